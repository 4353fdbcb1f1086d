import { seesWholeOrganization, type Principal } from '@dak/kernel';
import { DEFAULT_PER_PAGE, type PageWindow } from '@dak/platform/paging';
import type { PreparedStatement } from '@dak/platform/postgres';
import { assignedMailboxes, inLiveMailbox } from '../mailboxes/visibility';
import { textQuery } from '../search/text-query';
import { SqlParameters } from '../sql-parameters';
import type { ConversationFilter } from './conversation-filter';
import { CONVERSATION_TEXT_COLUMNS } from './render-conversation';

/** Newest first, or the reverse. */
export interface ConversationSort {
  column: 'last_message_at' | 'created_at';
  descending: boolean;
}

/** Beyond this many rows a total is only said to be larger, unless the tally knows it. */
export const COUNT_LIMIT = 10_000;

/** A search reads at most so many messages. */
const SEARCH_LIMIT = 50_000;

/**
 * The statements of a page: its rows (one more than fits), and its `total` unless that is in every row.
 * Which conditions there are decides the text, so texts repeat and can be prepared.
 */
export function conversationPage(
  principal: Principal,
  filter: ConversationFilter,
  sort: ConversationSort,
  window: PageWindow,
): { statements: PreparedStatement[]; isExact: boolean } {
  if (filter.query !== null) {
    return { statements: [searchStatement(principal, filter, sort, window)], isExact: false };
  }
  const isExact = !hasFilterBesidesTally(filter);
  const { values, text } = pageStatement(principal, filter, sort, window);
  // Other page sizes and deep pages would fill every connection with texts that are used once.
  const isCommon = window.offset === 0 && window.perPage === DEFAULT_PER_PAGE;
  const page = { name: isCommon ? nameOf(text) : '', text, values };
  const total = isExact ? tallyStatement(principal, filter) : countStatement(principal, filter);
  return { statements: [page, total], isExact };
}

function hasFilterBesidesTally(filter: ConversationFilter): boolean {
  return (
    filter.assignee !== null ||
    filter.label !== null ||
    filter.before !== null ||
    filter.after !== null
  );
}

/** Texts repeat, because they depend on which conditions there are and not on their values. */
const names = new Map<string, string>();

function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = `conversations_${names.size + 1}`;
    names.set(text, name);
  }
  return name;
}

export class ListStatement extends SqlParameters {
  readonly organization: string;

  constructor(readonly principal: Principal) {
    super();
    this.organization = this.add(principal.organizationId);
  }

  prepared(text: string): PreparedStatement {
    return { name: nameOf(text), text, values: this.values };
  }
}

/** The live mailboxes that a user is assigned to, in person or through a department. */
function visibleMailboxes(statement: ListStatement, filter: ConversationFilter): string {
  const { principal, organization } = statement;
  const assigned = assignedMailboxes({
    organization,
    user: statement.add(principal.userId),
    departments:
      principal.departmentIds.length === 0 ? null : statement.add(principal.departmentIds),
  });
  const only =
    filter.mailboxId === null ? '' : `and m.id = ${statement.add(filter.mailboxId)}::uuid`;
  return `select m.id
            from (${assigned}) a
            join mailbox m on m.organization_id = ${organization} and m.id = a.mailbox_id
           where m.deleted_at is null ${only}`;
}

/** Conditions on the row that hold wherever it is looked for, statuses apart. */
function rowConditions(statement: ListStatement, filter: ConversationFilter): string[] {
  const conditions = [
    `c.organization_id = ${statement.organization}`,
    'c.merged_into_id is null',
    `c.disposition = any(${statement.add(filter.dispositions)}::text[])`,
  ];
  if (filter.assignee === 'none') conditions.push('c.assignee_id is null');
  else if (filter.assignee !== null) {
    conditions.push(`c.assignee_id = ${statement.add(filter.assignee)}`);
  }
  if (filter.label !== null) {
    const label = statement.add(filter.label);
    conditions.push(`(${label} = any(c.labels) or ${label} = any(c.system_labels))`);
  }
  if (filter.before !== null) {
    conditions.push(`c.last_message_at < ${statement.add(filter.before)}::timestamptz`);
  }
  if (filter.after !== null) {
    conditions.push(`c.last_message_at > ${statement.add(filter.after)}::timestamptz`);
  }
  return conditions;
}

/** What a row `c` of conversation must fulfill to be in the list for this caller, for statements made elsewhere. */
export function conversationConditions(
  principal: Principal,
  filter: ConversationFilter,
): { statement: ListStatement; conditions: string[] } {
  const statement = new ListStatement(principal);
  return {
    statement,
    conditions: [...rowConditions(statement, filter), ...isListed(statement, filter, 'c')],
  };
}

/** The conversations with the words in any of their messages, or with the number. */
function foundConversations(statement: ListStatement, typed: string): string {
  const query = textQuery(typed);
  const parts: string[] = [];
  if (query !== null) {
    const words = `${statement.add(query)}::tsquery`;
    parts.push(`select s as id from search_conversations(${words}, ${SEARCH_LIMIT}) s`);
  }
  const number = /^#?(\d{1,15})$/.exec(typed);
  if (number !== null) {
    parts.push(`select c.id from conversation c
                 where c.organization_id = ${statement.organization} and c.number = ${statement.add(Number(number[1]))}`);
  }
  return parts.length === 0 ? 'select null::uuid as id where false' : parts.join(' union ');
}

/** A search finds the conversations once, for rows and total; `total` is in every row, of which there is at least one. */
function searchStatement(
  principal: Principal,
  filter: ConversationFilter,
  sort: ConversationSort,
  window: PageWindow,
): PreparedStatement {
  const statement = new ListStatement(principal);
  const direction = sort.descending ? 'desc' : 'asc';
  const found = foundConversations(statement, filter.query ?? '');
  const conditions = [...rowConditions(statement, filter), ...isListed(statement, filter, 'c')];
  const after =
    window.after === null ? 'true' : isAfter(statement, sort, window.after, 'l.at', 'l.id');
  const text = `
    with listed as materialized (
           select c.id, c.${sort.column} as at
             from conversation c
            where c.id = any(array(${found})) and ${conditions.join(' and ')}),
         page as (
           select l.id, l.at from listed l where ${after}
            order by l.at ${direction}, l.id ${direction}
            limit ${window.perPage + 1} offset ${window.offset})
    select t.total, ${CONVERSATION_TEXT_COLUMNS}
      from (select count(*) as total from listed) t
      left join page p on true
      left join conversation c on c.organization_id = ${statement.organization} and c.id = p.id
     order by p.at ${direction}, p.id ${direction}`;
  return { name: '', text, values: statement.values };
}

function isAfter(
  statement: ListStatement,
  sort: ConversationSort,
  position: readonly unknown[],
  column: string,
  id: string,
): string {
  return `(${column}, ${id}) ${sort.descending ? '<' : '>'} (${statement.add(position[0])}::timestamptz, ${statement.add(position[1])}::uuid)`;
}

function pageStatement(
  principal: Principal,
  filter: ConversationFilter,
  sort: ConversationSort,
  window: PageWindow,
): { text: string; values: unknown[] } {
  const statement = new ListStatement(principal);
  const direction = sort.descending ? 'desc' : 'asc';
  const order = `c.${sort.column} ${direction}, c.id ${direction}`;
  const conditions = rowConditions(statement, filter);
  if (window.after !== null) {
    conditions.push(isAfter(statement, sort, window.after, `c.${sort.column}`, 'c.id'));
  }
  if (filter.departmentId !== null) {
    conditions.push(`c.department_id = ${statement.add(filter.departmentId)}::uuid`);
  }
  const most = window.offset + window.perPage + 1;
  const statuses = statusRanges(statement, filter);
  const head = (from: string, range: string[]): string =>
    `select h.id, h.at
       from ${from}
      cross join lateral (
            select c.id, c.${sort.column} as at
              from conversation c
             where ${[...range, ...statuses.condition, ...conditions].join(' and ')}
             order by ${order}
             limit ${most}) h`;

  let heads: string;
  let visible = '';
  if (seesWholeOrganization(principal)) {
    const range = [inLiveMailbox(statement.organization, 'c.mailbox_id')];
    if (filter.mailboxId !== null) {
      range.push(`c.mailbox_id = ${statement.add(filter.mailboxId)}::uuid`);
    }
    heads = head(statuses.from, range);
  } else {
    visible = `visible as materialized (${visibleMailboxes(statement, filter)}),`;
    heads = head(`visible v cross join ${statuses.from}`, ['c.mailbox_id = v.id']);
    if (principal.departmentIds.length > 0) {
      const departments = statement.add(principal.departmentIds);
      const range = [
        'c.department_id = d.id',
        inLiveMailbox(statement.organization, 'c.mailbox_id'),
      ];
      if (filter.mailboxId !== null) {
        range.push(`c.mailbox_id = ${statement.add(filter.mailboxId)}::uuid`);
      }
      const ofDepartments = head(
        `unnest(${departments}::uuid[]) d(id) cross join ${statuses.from}`,
        range,
      );
      heads = `${heads} union ${ofDepartments}`;
    }
  }
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

/** One status is a condition; several are ranges whose heads are merged, since each is one stretch of the index. */
function statusRanges(
  statement: ListStatement,
  filter: ConversationFilter,
): { from: string; condition: string[] } {
  if (filter.statuses === null) return { from: '(select) s', condition: [] };
  if (filter.statuses.length === 1) {
    return { from: '(select) s', condition: [`c.status = ${statement.add(filter.statuses[0])}`] };
  }
  return {
    from: `unnest(${statement.add(filter.statuses)}::text[]) s(status)`,
    condition: ['c.status = s.status'],
  };
}

/** Condition on `alias` (conversation or tally): in the list for this caller. */
function isListed(statement: ListStatement, filter: ConversationFilter, alias: string): string[] {
  const conditions: string[] = [];
  if (filter.statuses !== null) {
    conditions.push(`${alias}.status = any(${statement.add(filter.statuses)}::text[])`);
  }
  if (filter.departmentId !== null) {
    conditions.push(`${alias}.department_id = ${statement.add(filter.departmentId)}::uuid`);
  }
  if (filter.mailboxId !== null) {
    conditions.push(`${alias}.mailbox_id = ${statement.add(filter.mailboxId)}::uuid`);
  }
  if (seesWholeOrganization(statement.principal)) {
    conditions.push(inLiveMailbox(statement.organization, `${alias}.mailbox_id`));
    return conditions;
  }
  const byMailbox = `${alias}.mailbox_id = any(array(${visibleMailboxes(statement, filter)}))`;
  if (statement.principal.departmentIds.length === 0) {
    conditions.push(byMailbox);
    return conditions;
  }
  const departments = statement.add(statement.principal.departmentIds);
  conditions.push(
    `(${byMailbox} or (${alias}.department_id = any(${departments}::uuid[]) and ${inLiveMailbox(statement.organization, `${alias}.mailbox_id`)}))`,
  );
  return conditions;
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
