import type { ConversationFilter } from './conversation-filter';
import {
  firstListed,
  isListed,
  rowConditions,
  type ConversationSort,
  type ListStatement,
} from './listed-conversations-sql';
import { NEWEST_OF_CONVERSATION, type SearchPlan } from './search-plan-sql';
import type { TextQuery } from './text-query';

/** Parts of a statement. */
export interface FoundMessages {
  /** Common table expressions, with a comma behind them. */
  before: string;
  /** Rows `(id, conversation_id, sort_at)`, narrowed to the list of the caller. */
  rows: string;
  /** Whether the index has found more than were read, so that some of the rows are missing. */
  isCut: string;
}

/** SQL of the messages that a search finds. */
export function foundMessages(
  statement: ListStatement,
  query: TextQuery,
  filter: ConversationFilter,
  sort: ConversationSort,
  plan: SearchPlan,
): FoundMessages {
  const { organization } = statement;
  if (plan.kind === 'index') {
    const indexed = `${statement.add(plan.indexed)}::tsquery`;
    const whole = `${statement.add(plan.whole)}::tsquery`;
    const conditions = [...rowConditions(statement, filter), ...isListed(statement, filter, 'c')];
    return {
      before: `indexed as materialized (select * from find_messages(${indexed}, ${whole}, ${plan.most})),`,
      rows: `select s.id, s.conversation_id, s.sort_at
               from indexed s
               join conversation c on c.organization_id = ${organization} and c.id = s.conversation_id
              where ${conditions.join(' and ')}`,
      isCut: `(select count(*) >= ${plan.most} from indexed)`,
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
    isCut: 'false',
  };
}
