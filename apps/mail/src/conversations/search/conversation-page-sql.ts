import type { Principal } from '@dak/kernel';
import { DEFAULT_PER_PAGE, type PageWindow } from '@dak/platform/paging';
import type { PreparedStatement } from '@dak/platform/postgres';
import { CONVERSATION_TEXT_COLUMNS } from '../render-conversation';
import type { ConversationFilter } from './conversation-filter';
import {
  firstListed,
  isListed,
  ListStatement,
  nameOf,
  rowConditions,
  type ConversationSort,
} from './listed-conversations-sql';

/** Beyond this many rows a total is only said to be larger, unless the tally knows it. */
export const COUNT_LIMIT = 10_000;

/**
 * The statements of a page without a search: its rows (one more than fits), and its `total`. Which
 * conditions there are decides the text, so texts repeat and can be prepared.
 */
export function conversationPage(
  principal: Principal,
  filter: ConversationFilter,
  sort: ConversationSort,
  window: PageWindow,
): { statements: PreparedStatement[]; isExact: boolean } {
  const { values, text } = pageStatement(principal, filter, sort, window);
  // Other page sizes and deep pages would fill every connection with texts that are used once.
  const isCommon = window.offset === 0 && window.perPage === DEFAULT_PER_PAGE;
  const page = { name: isCommon ? nameOf(text) : '', text, values };
  const total = totalStatement(principal, filter);
  return { statements: [page, total], isExact: !hasFilterBesidesTally(filter) };
}

/** How many conversations the list has, the words of a search apart; exact up to {@link COUNT_LIMIT} at least. */
export function totalStatement(
  principal: Principal,
  filter: ConversationFilter,
): PreparedStatement {
  return hasFilterBesidesTally(filter)
    ? countStatement(principal, filter)
    : tallyStatement(principal, filter);
}

function hasFilterBesidesTally(filter: ConversationFilter): boolean {
  return (
    filter.assignee !== null ||
    filter.label !== null ||
    filter.before !== null ||
    filter.after !== null
  );
}

function pageStatement(
  principal: Principal,
  filter: ConversationFilter,
  sort: ConversationSort,
  window: PageWindow,
): { text: string; values: unknown[] } {
  const statement = new ListStatement(principal);
  const direction = sort.descending ? 'desc' : 'asc';
  const most = window.offset + window.perPage + 1;
  const { visible, heads } = firstListed(statement, filter, sort, most, window.after);
  const text = `with ${visible}
          page as (
            select heads.id, heads.at
              from (${heads}) heads
             order by heads.at ${direction}, heads.id ${direction}
             limit ${window.perPage + 1} offset ${window.offset})
     select ${CONVERSATION_TEXT_COLUMNS}
       from page p
       join conversation c on c.organization_id = ${statement.organization} and c.id = p.id
      order by p.at ${direction}, p.id ${direction}`;
  return { text, values: statement.values };
}

function tallyStatement(principal: Principal, filter: ConversationFilter): PreparedStatement {
  const statement = new ListStatement(principal);
  const conditions = [
    `t.organization_id = ${statement.organization}`,
    `t.disposition = any(${statement.add(filter.dispositions)}::text[])`,
    ...isListed(statement, filter, 't'),
  ];
  return statement.prepared(
    `select coalesce(sum(t.conversations), 0)::bigint as total
       from conversation_tally t
      where ${conditions.join(' and ')}`,
  );
}

function countStatement(principal: Principal, filter: ConversationFilter): PreparedStatement {
  const statement = new ListStatement(principal);
  const conditions = [...rowConditions(statement, filter), ...isListed(statement, filter, 'c')];
  return statement.prepared(
    `select count(*) as total
       from (select from conversation c where ${conditions.join(' and ')} limit ${COUNT_LIMIT + 1}) c`,
  );
}
