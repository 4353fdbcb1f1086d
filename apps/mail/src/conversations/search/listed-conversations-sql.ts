import { seesWholeOrganization, type Principal } from '@dak/kernel';
import type { PreparedStatement } from '@dak/platform/postgres';
import { SqlParameters } from '../../db/sql-parameters';
import { assignedMailboxes, inLiveMailbox } from '../../mailboxes/visibility-store';
import type { ConversationFilter } from './conversation-filter';

/** Newest first, or the reverse. */
export interface ConversationSort {
  column: 'last_message_at' | 'created_at';
  descending: boolean;
}

/** Texts repeat, because they depend on which conditions there are and not on their values. */
const names = new Map<string, string>();

export function nameOf(text: string): string {
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
export function visibleMailboxes(statement: ListStatement, filter: ConversationFilter): string {
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
export function rowConditions(statement: ListStatement, filter: ConversationFilter): string[] {
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

export function isAfter(
  statement: ListStatement,
  sort: ConversationSort,
  position: readonly unknown[],
  column: string,
  id: string,
): string {
  return `(${column}, ${id}) ${sort.descending ? '<' : '>'} (${statement.add(position[0])}::timestamptz, ${statement.add(position[1])}::uuid)`;
}

/**
 * The first conversations of the list, as merged heads of ranges of indexes: rows `(id, at)` in no order,
 * among them the first `most`.
 * @param after continues behind a position of a cursor; null = from the beginning
 * @returns SQL of the rows, and the common table expression that it needs before it ('' = none)
 */
export function firstListed(
  statement: ListStatement,
  filter: ConversationFilter,
  sort: ConversationSort,
  most: number,
  after: readonly unknown[] | null,
): { visible: string; heads: string } {
  const { principal } = statement;
  const direction = sort.descending ? 'desc' : 'asc';
  const order = `c.${sort.column} ${direction}, c.id ${direction}`;
  const conditions = rowConditions(statement, filter);
  if (after !== null) {
    conditions.push(isAfter(statement, sort, after, `c.${sort.column}`, 'c.id'));
  }
  if (filter.departmentId !== null) {
    conditions.push(`c.department_id = ${statement.add(filter.departmentId)}::uuid`);
  }
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
  const inMailbox = (): string[] =>
    filter.mailboxId === null ? [] : [`c.mailbox_id = ${statement.add(filter.mailboxId)}::uuid`];
  const inLive = inLiveMailbox(statement.organization, 'c.mailbox_id');
  if (seesWholeOrganization(principal)) {
    return { visible: '', heads: head(statuses.from, [inLive, ...inMailbox()]) };
  }
  const visible = `visible as materialized (${visibleMailboxes(statement, filter)}),`;
  const heads = head(`visible v cross join ${statuses.from}`, ['c.mailbox_id = v.id']);
  if (principal.departmentIds.length === 0) return { visible, heads };
  const departments = statement.add(principal.departmentIds);
  const ofDepartments = head(`unnest(${departments}::uuid[]) d(id) cross join ${statuses.from}`, [
    'c.department_id = d.id',
    inLive,
    ...inMailbox(),
  ]);
  return { visible, heads: `${heads} union ${ofDepartments}` };
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
export function isListed(
  statement: ListStatement,
  filter: ConversationFilter,
  alias: string,
): string[] {
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
