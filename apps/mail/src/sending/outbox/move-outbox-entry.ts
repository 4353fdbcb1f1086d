import { MoveOutboxEntry } from '@dak/contracts/api';
import { actorOf, type Clock, ConflictError } from '@dak/kernel';
import type { Document, MoveOutboxEntryRequest } from '@dak/contracts/mail';
import { parseRequest, requestOf } from '@dak/contracts/requests';
import type { BlobStore } from '@dak/platform/blobs';
import type { CallContext } from '@dak/platform/grpc';
import type { Database } from '@dak/platform/postgres';
import { reviseConversations } from '../../conversations/revise-conversations';
import { parseSendAt } from '../submissions/send-time';
import { outboxDocument } from './get-outbox-entry';
import {
  changeScheduledCount,
  loadSubmission,
  moveDeliveries,
  setMessageStatus,
  setMoved,
} from './outbox-store';
import { redate } from './redate';

/**
 * Moves mail that is on hold to another time, or sends it now. The Date field follows, so that the
 * mail does not seem older or newer than it is; nothing has left yet.
 * @throws ConflictError `too_late`
 */
export async function moveOutboxEntry(
  deps: { database: Database; blobs: BlobStore; clock: Clock; onAccepted: () => void },
  request: MoveOutboxEntryRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { organizationId } = principal;
  const now = deps.clock();
  const at = new Date(now).toISOString();
  const { send_at: sendAt = null } = parseRequest(MoveOutboxEntry, requestOf(request));
  if (sendAt !== null) parseSendAt(sendAt, now);
  const known = await deps.database.inTenant(organizationId, (tx) =>
    loadSubmission(tx, principal, request.id, false),
  );
  const raw = redate(
    await deps.blobs.get(organizationId, known.raw_sha256),
    new Date(sendAt ?? now),
  );
  const { sha256 } = await deps.blobs.put(organizationId, raw);
  return deps.database.inTenant(organizationId, async (tx) => {
    const row = await loadSubmission(tx, principal, request.id, true);
    const state = sendAt === null ? 'queued' : 'scheduled';
    const moved = await moveDeliveries(tx, organizationId, row.id, ['held', 'scheduled'], {
      state,
      nextAttemptAt: sendAt ?? at,
      diagnostic: null,
    });
    if (moved.length === 0) {
      throw new ConflictError(
        'This mail is no longer on hold: it is being sent, was sent, or was canceled.',
        'too_late',
      );
    }
    await setMoved(
      tx,
      organizationId,
      row.id,
      { status: state, sendAt, rawSha256: sha256, sizeBytes: raw.length },
      at,
    );
    deps.blobs.requirePresent(organizationId, [sha256]);
    await setMessageStatus(
      tx,
      organizationId,
      row.id,
      { status: state, sendAt, rawSha256: sha256 },
      at,
    );
    const wasScheduled = row.status === 'scheduled';
    if (wasScheduled !== (state === 'scheduled')) {
      const conversationId = row.current_conversation_id;
      await changeScheduledCount(tx, organizationId, conversationId, wasScheduled ? -1 : 1);
      const event = wasScheduled ? 'released' : 'withdrawn';
      const actor = actorOf(principal);
      await reviseConversations(tx, organizationId, [{ conversationId, event, actor }], now);
    }
    if (sendAt === null) tx.afterCommit(deps.onAccepted);
    return outboxDocument(tx, context, row.id);
  });
}
