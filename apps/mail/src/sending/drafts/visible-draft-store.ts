import { isUuid, NotFoundError, VersionMismatchError, type Principal } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { SqlParameters } from '../../db/sql-parameters';
import {
  lacksAccess,
  livingConversation,
  mailboxIsOpen,
  type Access,
} from '../../mailboxes/visibility-store';
import type { DraftRow } from './draft';
import { DRAFT_COLUMNS } from './draft-store';

/** SQL condition: the row `d` of `draft` is open to the caller, by its mailbox or the department of its conversation. */
export function draftIsOpen(
  principal: Principal,
  access: Access,
  parameters: SqlParameters,
): string {
  const byMailbox = mailboxIsOpen(principal, access, 'd.mailbox_id', parameters);
  const organization = parameters.add(principal.organizationId);
  const departments = parameters.add(principal.departmentIds);
  return `(${byMailbox} or exists (select from conversation c
                                    where c.organization_id = ${organization} and c.id = ${livingConversation(organization, 'd.conversation_id')}
                                      and c.department_id = any(${departments}::uuid[])))`;
}

/** A draft as a caller may see it. */
export type VisibleDraft = DraftRow & { readonly may_send: boolean };

/** What the caller is shown of a draft: its blind copies take the level `send`, and of a key the scope too. */
export function shownDraft(
  { scopes }: Principal,
  { may_send: maySend, ...row }: VisibleDraft,
): DraftRow {
  return maySend && scopes.includes('mail.send') ? row : { ...row, bcc_recipients: [] };
}

/**
 * @throws NotFoundError, ForbiddenError by the caller's access
 * @throws VersionMismatchError when `expectedVersion` is given and is not the current one
 */
export async function loadDraft(
  tx: SqlExecutor,
  principal: Principal,
  id: string,
  access: Access,
  options: { lock?: boolean; expectedVersion?: number | undefined } = {},
): Promise<VisibleDraft> {
  if (!isUuid(id)) throw new NotFoundError('draft');
  const parameters = new SqlParameters();
  const organization = parameters.add(principal.organizationId);
  const draft = parameters.add(id);
  const isVisible = draftIsOpen(principal, 'read', parameters);
  const isOpen = draftIsOpen(principal, access, parameters);
  const maySend = draftIsOpen(principal, 'send', parameters);
  const { rows } = await tx.query<VisibleDraft & { is_open: boolean }>(
    `select ${DRAFT_COLUMNS}, ${isOpen} as is_open, ${maySend} as may_send
       from draft d
       join mailbox m on m.organization_id = d.organization_id and m.id = d.mailbox_id and m.deleted_at is null
      where d.organization_id = ${organization} and d.id = ${draft} and ${isVisible}
      ${options.lock === true ? 'for update of d' : ''}`,
    parameters.values,
  );
  if (rows[0] === undefined) throw new NotFoundError('draft');
  const { is_open: allowed, ...row } = rows[0];
  if (!allowed) throw lacksAccess(access);
  const { expectedVersion } = options;
  if (expectedVersion !== undefined && expectedVersion !== row.version) {
    throw new VersionMismatchError('draft', row.version);
  }
  return row;
}
