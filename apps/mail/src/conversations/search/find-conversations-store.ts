import type { Principal } from '@dak/kernel';
import type { PageWindow } from '@dak/platform/paging';
import type { SqlExecutor } from '@dak/platform/postgres';
import { CONVERSATION_TEXT_COLUMNS, type ConversationTexts } from '../render-conversation';
import type { ConversationFilter } from './conversation-filter';
import { COUNT_LIMIT, totalStatement } from './conversation-page-sql';
import { foundMessages } from './found-messages-sql';
import {
  firstListed,
  isAfter,
  isListed,
  ListStatement,
  rowConditions,
  type ConversationSort,
} from './listed-conversations-sql';
import {
  MOST_WALKED,
  NEWEST_OF_CONVERSATION,
  planSearch,
  walkInstead,
  type SearchLimits,
  type WalkPlan,
} from './search-plan-sql';
import { textQuery, type TextQuery } from './text-query';

export interface FoundConversations {
  /** One more than fits on the page. */
  rows: ConversationTexts[];
  total: { count: number; isEstimate: boolean };
}

/** A page of the conversations with the words in any of their messages, or with the number. */
export async function findConversations(
  tx: SqlExecutor,
  principal: Principal,
  filter: ConversationFilter & { query: string },
  sort: ConversationSort,
  window: PageWindow,
  limits?: SearchLimits,
): Promise<FoundConversations> {
  const query = textQuery(filter.query);
  const plan = query === null ? null : await planSearch(tx, principal, query, filter, sort, limits);
  if (query !== null && plan?.kind === 'walk' && !plan.isComplete) {
    return walkTo(tx, principal, query, filter, sort, window, plan);
  }
  const statement = new ListStatement(principal);
  const { organization } = statement;
  const direction = sort.descending ? 'desc' : 'asc';
  const found =
    query === null || plan === null ? null : foundMessages(statement, query, filter, sort, plan);
  const number = numberIn(filter.query);
  const ids = [
    ...(found === null ? [] : [`select f.conversation_id as id from (${found.rows}) f`]),
    ...(number === null
      ? []
      : [
          `select c.id from conversation c
            where c.organization_id = ${organization} and c.number = ${statement.add(number)}`,
        ]),
  ];
  if (ids.length === 0) return { rows: [], total: { count: 0, isEstimate: false } };
  const conditions = [...rowConditions(statement, filter), ...isListed(statement, filter, 'c')];
  const after =
    window.after === null ? 'true' : isAfter(statement, sort, window.after, 'l.at', 'l.id');
  const { rows } = await tx.query<ConversationTexts & { total: number; is_cut: boolean }>(
    `with ${found?.before ?? ''}
         found as materialized (${ids.join(' union ')}),
         listed as materialized (
           select c.id, c.${sort.column} as at
             from conversation c
            where c.id = any(array(select id from found)) and ${conditions.join(' and ')}),
         page as (
           select l.id, l.at from listed l where ${after}
            order by l.at ${direction}, l.id ${direction}
            limit ${window.perPage + 1} offset ${window.offset})
    select t.total, t.is_cut, ${CONVERSATION_TEXT_COLUMNS}
      from (select count(*)::int as total, ${found?.isCut ?? 'false'} as is_cut from listed) t
      left join page p on true
      left join conversation c on c.organization_id = ${organization} and c.id = p.id
     order by p.at ${direction}, p.id ${direction}`,
    statement.values,
  );
  if (query !== null && plan?.kind === 'index' && rows[0]?.is_cut === true) {
    return walkTo(tx, principal, query, filter, sort, window, walkInstead(plan));
  }
  const count = rows[0]?.total ?? 0;
  return {
    rows: rows.filter((row) => row.id !== null),
    total: { count, isEstimate: count > COUNT_LIMIT },
  };
}

/** Common words: the page is filled from the list itself, in its order, and the total is the share of it that has them. */
async function walkTo(
  tx: SqlExecutor,
  principal: Principal,
  query: TextQuery,
  filter: ConversationFilter & { query: string },
  sort: ConversationSort,
  window: PageWindow,
  plan: WalkPlan,
): Promise<FoundConversations> {
  const statement = new ListStatement(principal);
  const { organization } = statement;
  const direction = sort.descending ? 'desc' : 'asc';
  const needed = window.offset + window.perPage + 1;
  const most = Math.min(MOST_WALKED, Math.max(plan.most, Math.ceil((2 * needed) / plan.share)));
  const { visible, heads } = firstListed(statement, filter, sort, most, window.after);
  const words = `${statement.add(query.text)}::tsquery`;
  const number = numberIn(filter.query);
  const isNumbered =
    number === null
      ? ''
      : `union
         select c.id, c.${sort.column}
           from conversation c
          where c.organization_id = ${organization} and c.number = ${statement.add(number)}
            and ${[...rowConditions(statement, filter), ...isListed(statement, filter, 'c')].join(' and ')}
            and ${window.after === null ? 'true' : isAfter(statement, sort, window.after, `c.${sort.column}`, 'c.id')}`;
  const { rows } = await tx.query<ConversationTexts>(
    `with ${visible}
         page as (
           select w.id, w.at
             from (select h.id, h.at from (${heads}) h
                    order by h.at ${direction}, h.id ${direction}
                    limit ${most}) w
            where exists (
                  select from (select m.search
                                 from message m
                                where m.organization_id = ${organization} and m.conversation_id = w.id
                                order by m.sort_at desc, m.id desc
                                limit ${NEWEST_OF_CONVERSATION}) m
                   where m.search @@ ${words})
           ${isNumbered}
            order by at ${direction}, id ${direction}
            limit ${window.perPage + 1} offset ${window.offset})
    select ${CONVERSATION_TEXT_COLUMNS}
      from page p
      join conversation c on c.organization_id = ${organization} and c.id = p.id
     order by p.at ${direction}, p.id ${direction}`,
    statement.values,
  );
  const listed = totalStatement(principal, filter);
  const { rows: totals } = await tx.query<{ total: number }>(listed.text, listed.values);
  const estimate = Math.round(Number(totals[0]?.total ?? 0) * plan.share);
  return {
    rows,
    total: { count: Math.max(estimate, window.offset + rows.length), isEstimate: true },
  };
}

/** The query may be the number of a conversation. */
function numberIn(typed: string): number | null {
  const digits = /^#?(\d{1,15})$/.exec(typed)?.[1];
  return digits === undefined ? null : Number(digits);
}
