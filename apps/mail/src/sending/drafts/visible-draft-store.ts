import { isUuid, NotFoundError, type Principal, VersionMismatchError } from '@dak/kernel';
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

/** The draft as the caller may see it: blind copies require the level `send` and, for keys, the scope. */
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

/** Last changed first. */
export async function selectDraftPage(
  reader: SqlExecutor,
  principal: Principal,
  {
    mailboxId,
    conversationId,
  }: { mailboxId?: string | undefined; conversationId?: string | undefined },
  window: { limit: number; offset: number; after: readonly unknown[] | null },
): Promise<{ rows: VisibleDraft[]; total: number }> {
  const parameters = new SqlParameters();
  const conditions = [
    `d.organization_id = ${parameters.add(principal.organizationId)}`,
    draftIsOpen(principal, 'read', parameters),
  ];
  if (mailboxId !== undefined) conditions.push(`d.mailbox_id = ${parameters.add(mailboxId)}`);
  if (conversationId !== undefined) {
    conditions.push(`d.conversation_id = ${parameters.add(conversationId)}`);
  }
  const from = `
       from draft d
       join mailbox m on m.organization_id = d.organization_id and m.id = d.mailbox_id and m.deleted_at is null
      where ${conditions.join(' and ')}`;
  const counted = [...parameters.values];
  const maySend = draftIsOpen(principal, 'send', parameters);
  const after =
    window.after === null
      ? ''
      : `and (d.updated_at, d.id) < (${parameters.add(window.after[0])}::timestamptz, ${parameters.add(window.after[1])}::uuid)`;
  const limit = parameters.add(window.limit);
  const offset = parameters.add(window.offset);
  const [{ rows }, total] = await Promise.all([
    reader.query<VisibleDraft>(
      `select ${DRAFT_COLUMNS}, ${maySend} as may_send ${from} ${after}
        order by d.updated_at desc, d.id desc limit ${limit} offset ${offset}`,
      parameters.values,
    ),
    reader.query<{ count: number }>(`select count(*) ${from}`, counted),
  ]);
  return { rows, total: total.rows[0]!.count };
}
