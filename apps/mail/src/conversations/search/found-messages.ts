import type { ConversationFilter } from './conversation-filter';
import {
  firstListed,
  isListed,
  rowConditions,
  type ConversationSort,
  type ListStatement,
} from './listed-conversations';
import { NEWEST_OF_CONVERSATION, type SearchPlan } from './search-plan';
import type { TextQuery } from './text-query';

/** Messages that the index may find; more are not read, whichever they are. */
const MOST_FOUND = 100_000;

/**
 * SQL of the messages that a search finds, rows `(id, conversation_id, sort_at)`, narrowed to the list
 * of the caller; and of the common table expressions before it.
 */
export function foundMessages(
  statement: ListStatement,
  query: TextQuery,
  filter: ConversationFilter,
  sort: ConversationSort,
  plan: SearchPlan,
): { before: string; rows: string } {
  const { organization } = statement;
  if (plan.kind === 'index') {
    const indexed = `${statement.add(plan.indexed)}::tsquery`;
    const whole = `${statement.add(plan.whole)}::tsquery`;
    const conditions = [...rowConditions(statement, filter), ...isListed(statement, filter, 'c')];
    return {
      before: '',
      rows: `select s.id, s.conversation_id, s.sort_at
               from find_messages(${indexed}, ${whole}, ${MOST_FOUND}) s
               join conversation c on c.organization_id = ${organization} and c.id = s.conversation_id
              where ${conditions.join(' and ')}`,
    };
  }
  const words = `${statement.add(query.text)}::tsquery`;
  const direction = sort.descending ? 'desc' : 'asc';
  const { visible, heads } = firstListed(statement, filter, sort, plan.most, null);
  const newest = plan.isComplete
    ? ''
    : `order by m.sort_at desc, m.id desc limit ${NEWEST_OF_CONVERSATION}`;
  return {
    before: `${visible}
          walked as materialized (
            select h.id from (${heads}) h order by h.at ${direction}, h.id ${direction} limit ${plan.most}),`,
    rows: `select m.id, m.conversation_id, m.sort_at
             from walked w
            cross join lateral (
                  select m.id, m.conversation_id, m.sort_at, m.search
                    from message m
                   where m.organization_id = ${organization} and m.conversation_id = w.id
                   ${newest}) m
            where m.search @@ ${words}`,
  };
}
