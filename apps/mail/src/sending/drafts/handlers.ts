import { NotFoundError } from '@dak/kernel';
import type { DraftServiceService } from '@dak/contracts/mail';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import type { SubmissionDeps } from '../submissions/submission-deps';
import { createDraft, draftDocument } from './create-draft';
import { deleteDraftRow } from './draft-store';
import { listDrafts } from './list-drafts';
import { sendDraft } from './send-draft';
import { updateDraft } from './update-draft';
import { loadDraft, shownDraft } from './visible-draft-store';

export function createDraftHandlers(
  deps: SubmissionDeps & { cursorKey: Uint8Array },
): Handlers<typeof DraftServiceService, CallContext> {
  const { database } = deps;
  return {
    listDrafts: (request, context) => listDrafts(deps, request, context),
    createDraft: (request, context) => createDraft(deps, request, context),
    updateDraft: (request, context) => updateDraft(deps, request, context),
    sendDraft: (request, context) => sendDraft(deps, request, context),
    async getDraft({ id }, { principal }) {
      return database.inTenant(principal.organizationId, async (tx) =>
        draftDocument(shownDraft(principal, await loadDraft(tx, principal, id, 'read'))),
      );
    },
    async deleteDraft({ id }, { principal }) {
      await database.inTenant(principal.organizationId, async (tx) => {
        const row = await loadDraft(tx, principal, id, 'write', { lock: true });
        if (!(await deleteDraftRow(tx, principal.organizationId, row))) {
          throw new NotFoundError('draft');
        }
      });
      return {};
    },
  };
}
