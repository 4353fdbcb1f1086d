import { ACCESS_LEVELS } from '@dak/contracts/api';
import {
  ForbiddenError,
  NotFoundError,
  isUuid,
  seesWholeOrganization,
  type Principal,
} from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { SqlParameters } from '../db/sql-parameters';
import { MAILBOX_COLUMNS, type MailboxRow } from './mailbox-row';

/** Access levels of a mailbox; each includes the ones before it. */
export type Access = (typeof ACCESS_LEVELS)[number];

/** The levels that suffice for `access`. */
export function levelsFrom(access: Access): Access[] {
  return ACCESS_LEVELS.slice(ACCESS_LEVELS.indexOf(access));
}

/**
 * SQL condition: the mailbox `mailboxId` (an SQL expression) is open to the caller for `access`.
 * Whether the mailbox is deleted must be checked separately.
 */
export function mailboxIsOpen(
  principal: Principal,
  access: Access,
  mailboxId: string,
  parameters: SqlParameters,
): string {
  if (seesWholeOrganization(principal)) return 'true';
  const organization = parameters.add(principal.organizationId);
  const user = parameters.add(principal.userId);
  const levels = parameters.add(levelsFrom(access));
  const departments = parameters.add(principal.departmentIds);
  return `(exists (select from mailbox_user a
                    where a.organization_id = ${organization} and a.user_id = ${user}
                      and a.mailbox_id = ${mailboxId} and a.access = any(${levels}::text[]))
        or exists (select from mailbox_department a
                    where a.organization_id = ${organization} and a.mailbox_id = ${mailboxId}
                      and a.department_id = any(${departments}::uuid[])))`;
}

/**
 * SQL query of the mailboxes that a regular user is assigned to, in person or through a department, with
 * any access level, which stands beside them if asked for. All are SQL expressions; `departments` is an array, null when there are none.
 */
export function assignedMailboxes(reader: {
  organization: string;
  user: string;
  departments: string | null;
  withAccess?: boolean;
}): string {
  const { organization, user, departments, withAccess = false } = reader;
  const access = (text: string): string => (withAccess ? `, ${text} as access` : '');
  const inPerson = `select a.mailbox_id${access('a.access')} from mailbox_user a
                     where a.organization_id = ${organization} and a.user_id = ${user}`;
  if (departments === null) return inPerson;
  return `${inPerson}
           union select a.mailbox_id${access("'send'")} from mailbox_department a
                  where a.organization_id = ${organization} and a.department_id = any(${departments}::uuid[])`;
}

/** SQL condition: what lies in the mailbox `mailboxId` (an SQL expression) is not out of sight with a deleted mailbox. */
export function inLiveMailbox(organization: string, mailboxId: string): string {
  return `${mailboxId} <> all(array(select m.id from mailbox m
      where m.organization_id = ${organization} and m.deleted_at is not null))`;
}

/** SQL condition: the row `alias` of `conversation` is open to the caller for `access`, through its mailbox or its department. */
export function conversationIsOpen(
  principal: Principal,
  access: Access,
  alias: string,
  parameters: SqlParameters,
): string {
  if (seesWholeOrganization(principal)) return 'true';
  const byMailbox = mailboxIsOpen(principal, access, `${alias}.mailbox_id`, parameters);
  return `(${byMailbox} or ${alias}.department_id = any(${parameters.add(principal.departmentIds)}::uuid[]))`;
}

/**
 * SQL expression: the conversation that `id` (an SQL expression) is by now. Who may see a merged one is a
 * question about the conversation it went into.
 */
export function livingConversation(organization: string, id: string): string {
  return `(with recursive merged as (
             select o.id, o.merged_into_id
               from conversation o
              where o.organization_id = ${organization} and o.id = ${id}
             union all
             select o.id, o.merged_into_id
               from merged
               join conversation o on o.organization_id = ${organization} and o.id = merged.merged_into_id)
           select merged.id from merged where merged.merged_into_id is null)`;
}

/**
 * The live mailbox, if the caller may use it for `access`.
 * @throws NotFoundError when it does not exist, is deleted, or is not visible to the caller
 * @throws ForbiddenError when the caller sees it but has a lower access level
 */
export async function requireMailbox(
  tx: SqlExecutor,
  principal: Principal,
  mailboxId: string,
  access: Access,
): Promise<MailboxRow> {
  if (!isUuid(mailboxId)) throw new NotFoundError('mailbox');
  const parameters = new SqlParameters();
  const organization = parameters.add(principal.organizationId);
  const id = parameters.add(mailboxId);
  const isVisible = mailboxIsOpen(principal, 'read', 'm.id', parameters);
  const isOpen = mailboxIsOpen(principal, access, 'm.id', parameters);
  const { rows } = await tx.query<MailboxRow & { is_open: boolean }>(
    `select ${MAILBOX_COLUMNS}, ${isOpen} as is_open
       from mailbox m
      where m.organization_id = ${organization} and m.id = ${id} and m.deleted_at is null and ${isVisible}`,
    parameters.values,
  );
  const row = rows[0];
  if (row === undefined) throw new NotFoundError('mailbox');
  if (!row.is_open) throw lacksAccess(access);
  return row;
}

export function lacksAccess(access: Access): ForbiddenError {
  return new ForbiddenError(
    `Your assignment to this mailbox does not include the access level ${access}: ask an admin to raise it.`,
    'missing_access',
  );
}
