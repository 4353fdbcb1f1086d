import { InvalidError, isUuid } from '@dak/kernel';
import type { ListDraftsRequest, Page } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { listPage } from '@dak/platform/paging';
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
  return listPage(deps.cursorKey, request.page, {
    scope: { organizationId, list: 'drafts', filter: { mailboxId, conversationId } },
    select: (window) =>
      selectDraftPage(
        deps.readers(organizationId),
        principal,
        { mailboxId, conversationId },
        window,
      ),
    recordOf: (row) => renderDraft(shownDraft(principal, row)),
    positionOf: (row) => [row.updated_at, row.id],
  });
}
