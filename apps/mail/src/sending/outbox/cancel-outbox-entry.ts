import { actorOf, type Clock, ConflictError, uuidv7 } from '@dak/kernel';
import { createUploadToken } from '@dak/contracts/api';
import type { CancelOutboxEntryRequest, Empty } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import type { Database, Transaction } from '@dak/platform/postgres';
import { messageStatusOf, summarizeStates } from '../../conversations/messages/delivery-state';
import { reviseConversations } from '../../conversations/revise-conversations';
import { selectStates } from '../../delivery/result-store';
import { UPLOAD_LIFETIME_MS } from '../attachments/upload';
import { insertUpload } from '../attachments/upload-store';
import { openDraftOf } from '../drafts/draft';
import { insertDraft } from '../drafts/draft-store';
import { attachmentsOf } from '../submissions/file-store';
import {
  changeScheduledCount,
  loadSubmission,
  moveDeliveries,
  setCanceled,
  setMessageStatus,
} from './outbox-store';

const CANCELABLE = ['held', 'scheduled', 'queued', 'deferred'];

/**
 * Cancels unsent deliveries and returns the content as a draft. Of mail to several recipients that
 * has reached some, the others are stopped; the draft is for these.
 * @throws ConflictError `too_late` when nothing is left to stop
 */
export async function cancelOutboxEntry(
  deps: { database: Database; clock: Clock },
  request: CancelOutboxEntryRequest,
  { principal }: CallContext,
): Promise<Empty> {
  const { organizationId } = principal;
  const now = deps.clock();
  const at = new Date(now).toISOString();
  await deps.database.inTenant(organizationId, async (tx) => {
    const row = await loadSubmission(tx, principal, request.id, true);
    const stopped = await moveDeliveries(tx, organizationId, row.id, CANCELABLE, {
      state: 'canceled',
      nextAttemptAt: null,
      diagnostic: `Canceled by ${principal.userName}`,
    });
    if (stopped.length === 0) {
      throw new ConflictError(
        'It is too late: this mail is being sent, was sent, or was canceled before.',
        'too_late',
      );
    }
    const [states] = await selectStates(tx, organizationId, [row.id]);
    const status = summarizeStates(states!.states);
    const { is_finished: isFinished } = states!;
    await setCanceled(tx, organizationId, row.id, { status, isFinished }, at);
    const conversationId = row.current_conversation_id;
    const wasScheduled = row.status === 'scheduled';
    await setMessageStatus(
      tx,
      organizationId,
      row.id,
      { status: messageStatusOf(status), sendAt: row.send_at, rawSha256: null },
      at,
    );
    await changeScheduledCount(tx, organizationId, conversationId, wasScheduled ? -1 : 0);
    if (row.content !== null) {
      const only = new Set(stopped.map(({ recipient }) => recipient.toLowerCase()));
      await giveBack(tx, organizationId, principal.userId, row, only, at, now);
    }
    const event = status === 'canceled' ? 'withdrawn' : 'changed';
    const actor = actorOf(principal);
    await reviseConversations(tx, organizationId, [{ conversationId, event, actor }], now);
  });
  return {};
}

type Stopped = Awaited<ReturnType<typeof loadSubmission>>;

async function giveBack(
  tx: Transaction,
  organizationId: string,
  userId: string,
  row: Stopped,
  only: ReadonlySet<string>,
  at: string,
  now: number,
): Promise<void> {
  const content = row.content!;
  const tokens: string[] = [];
  for (const file of await attachmentsOf(tx, organizationId, row.id)) {
    const token = createUploadToken();
    tokens.push(token);
    await insertUpload(tx, organizationId, {
      ...file,
      token,
      user_id: userId,
      scan_status: 'not_scanned',
      created_at: at,
      expires_at: new Date(now + UPLOAD_LIFETIME_MS).toISOString(),
    });
  }
  const stillWanted = (list: readonly string[]) =>
    list.filter((text) => {
      const address = (/<([^<>]*)>\s*$/.exec(text)?.[1] ?? text).trim().toLowerCase();
      // Addresses that were written otherwise than sent (IDN) are kept rather than lost.
      return only.has(address) || !/^[\x21-\x7e]+$/.test(address);
    });
  const isReply = content.kind === 'reply';
  const draftId = uuidv7(now);
  await insertDraft(tx, organizationId, {
    ...openDraftOf(content),
    id: draftId,
    mailbox_id: row.mailbox_id,
    conversation_id: isReply || row.kind === 'forward' ? row.current_conversation_id : null,
    to_recipients: stillWanted(content.to),
    cc_recipients: stillWanted(content.cc),
    bcc_recipients: stillWanted(content.bcc),
    attachment_tokens: tokens,
    cancel_if_reply: row.cancel_if_reply,
    author_type: row.author_type,
    author_id: row.author_id,
    author_name: row.author_name,
    version: 1,
    created_at: at,
    updated_at: at,
  });
}
