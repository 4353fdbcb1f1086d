import type { Clock } from '@dak/kernel';
import type { Document, UpdateDraftRequest } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import type { Database } from '@dak/platform/postgres';
import { requireMailbox } from '../../mailboxes/visibility-store';
import { loadUploads } from '../submissions/load-files';
import { draftDocument } from './create-draft';
import type { DraftRow } from './draft';
import { withFields } from './draft-fields';
import { updateDraftRow } from './draft-store';
import { loadDraft, shownDraft } from './visible-draft-store';

export function updateDraft(
  deps: { database: Database; clock: Clock },
  request: UpdateDraftRequest,
  { principal }: CallContext,
): Promise<Document> {
  const { organizationId } = principal;
  return deps.database.inTenant(organizationId, async (tx) => {
    const { may_send: _, ...row } = await loadDraft(tx, principal, request.id, 'write', {
      lock: true,
      expectedVersion: request.expectedVersion,
    });
    const mailboxId = request.compose?.mailboxId;
    const moves = row.kind === 'compose' && request.fields.includes('mailbox_id') && mailboxId;
    if (moves) await requireMailbox(tx, principal, mailboxId, 'write');
    const next: DraftRow = {
      ...withFields(row, request),
      mailbox_id: moves ? mailboxId : row.mailbox_id,
      version: row.version + 1,
      updated_at: new Date(deps.clock()).toISOString(),
    };
    await loadUploads(tx, principal, next.attachment_tokens, row.id);
    await updateDraftRow(tx, organizationId, next);
    return draftDocument(shownDraft(principal, await loadDraft(tx, principal, row.id, 'read')));
  });
}
