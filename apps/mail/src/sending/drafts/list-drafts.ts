import { InvalidError, isUuid } from '@dak/kernel';
import type { ListDraftsRequest, Page } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes, pageOf, pageWindow } from '@dak/platform/paging';
import type { Readers } from '../../db/database-reader';
import { renderDraft } from './draft';
import { selectDraftPage, shownDraft } from './visible-draft-store';

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
  const { rows, total } = await selectDraftPage(
    deps.readers(organizationId),
    principal,
    { mailboxId, conversationId },
    { limit: window.perPage + 1, offset: window.offset, after: window.after },
  );
  return pageOf(
    deps.cursorKey,
    scope,
    window,
    rows,
    { count: total, isEstimate: false },
    (shown) => jsonBytes(shown.map((row) => renderDraft(shownDraft(principal, row)))),
    (row) => [row.updated_at, row.id],
  );
}
