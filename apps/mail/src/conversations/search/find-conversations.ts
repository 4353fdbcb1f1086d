import type { Principal } from '@dak/kernel';
import type { PageWindow } from '@dak/platform/paging';
import type { SqlExecutor } from '@dak/platform/postgres';
import { CONVERSATION_TEXT_COLUMNS, type ConversationTexts } from '../render-conversation';
import type { ConversationFilter } from './conversation-filter';
import { COUNT_LIMIT, totalStatement } from './conversation-page-sql';
import { foundMessages } from './found-messages';
import {
  firstListed,
  isAfter,
  isListed,
  ListStatement,
  rowConditions,
  type ConversationSort,
} from './listed-conversations';
import {
  NEWEST_OF_CONVERSATION,
  planSearch,
  type SearchLimits,
  type SearchPlan,
} from './search-plan';
import { textQuery, type TextQuery } from './text-query';

export interface FoundConversations {
  /** One more than fits on the page. */
  rows: ConversationTexts[];
  total: { count: number; isEstimate: boolean };
}

/** More conversations than these are not walked through for one page. */
const MOST_WALKED = 20_000;

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
  const number = /^#?(\d{1,15})$/.exec(filter.query)?.[1];
  const ids = [
    ...(found === null ? [] : [`select f.conversation_id as id from (${found.rows}) f`]),
    ...(number === undefined
      ? []
      : [
          `select c.id from conversation c
            where c.organization_id = ${organization} and c.number = ${statement.add(Number(number))}`,
        ]),
  ];
  if (ids.length === 0) return { rows: [], total: { count: 0, isEstimate: false } };
  const conditions = [...rowConditions(statement, filter), ...isListed(statement, filter, 'c')];
  const after =
    window.after === null ? 'true' : isAfter(statement, sort, window.after, 'l.at', 'l.id');
  const { rows } = await tx.query<ConversationTexts & { total: number }>(
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
    select t.total, ${CONVERSATION_TEXT_COLUMNS}
      from (select count(*)::int as total from listed) t
      left join page p on true
      left join conversation c on c.organization_id = ${organization} and c.id = p.id
     order by p.at ${direction}, p.id ${direction}`,
    statement.values,
  );
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
  filter: ConversationFilter,
  sort: ConversationSort,
  window: PageWindow,
  plan: Extract<SearchPlan, { kind: 'walk' }>,
): Promise<FoundConversations> {
  const statement = new ListStatement(principal);
  const { organization } = statement;
  const direction = sort.descending ? 'desc' : 'asc';
  const needed = window.offset + window.perPage + 1;
  const most = Math.min(MOST_WALKED, Math.max(plan.most, Math.ceil((2 * needed) / plan.share)));
  const { visible, heads } = firstListed(statement, filter, sort, most, window.after);
  const words = `${statement.add(query.text)}::tsquery`;
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
            order by w.at ${direction}, w.id ${direction}
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
