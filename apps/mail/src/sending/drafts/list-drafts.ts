import { InvalidError, isUuid } from '@dak/kernel';
import type { ListDraftsRequest, Page } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes, pageOf, pageWindow } from '@dak/platform/paging';
import type { Readers } from '../../db/database-reader';
import { SqlParameters } from '../../db/sql-parameters';
import { renderDraft } from './draft';
import { DRAFT_COLUMNS } from './draft-store';
import { draftIsOpen, shownDraft, type VisibleDraft } from './visible-draft-store';

/** Last changed first. */
export async function listDrafts(
  deps: { readers: Readers; cursorKey: Uint8Array },
  request: ListDraftsRequest,
  { principal }: CallContext,
): Promise<Page> {
  const { organizationId } = principal;
  const { mailboxId, conversationId } = request;
  for (const [field, id] of [
    ['mailbox', mailboxId],
    ['conversation', conversationId],
  ] as const) {
    if (id !== undefined && !isUuid(id)) throw new InvalidError(`${field} must be a UUID.`);
  }
  const scope = { organizationId, list: 'drafts', filter: { mailboxId, conversationId } };
  const window = pageWindow(deps.cursorKey, scope, request.page);
  const parameters = new SqlParameters();
  const conditions = [
    `d.organization_id = ${parameters.add(organizationId)}`,
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
  const limit = parameters.add(window.perPage + 1);
  const offset = parameters.add(window.offset);
  const reader = deps.readers(organizationId);
  const [{ rows }, total] = await Promise.all([
    reader.query<VisibleDraft>(
      `select ${DRAFT_COLUMNS}, ${maySend} as may_send ${from} ${after}
        order by d.updated_at desc, d.id desc limit ${limit} offset ${offset}`,
      parameters.values,
    ),
    reader.query<{ count: number }>(`select count(*) ${from}`, counted),
  ]);
  return pageOf(
    deps.cursorKey,
    scope,
    window,
    rows,
    { count: total.rows[0]!.count, isEstimate: false },
    (shown) => jsonBytes(shown.map((row) => renderDraft(shownDraft(principal, row)))),
    (row) => [row.updated_at, row.id],
  );
}
