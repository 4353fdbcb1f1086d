import { isUuid, NotFoundError, type Principal } from '@dak/kernel';
import type { ConversationRecord, MessageRecord } from '@dak/contracts/api';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { DeliveryState } from '../../conversations/messages/delivery-state';
import { loadConversation } from '../../conversations/visible-conversation-store';
import { SqlParameters } from '../../db/sql-parameters';
import { conversationIsOpen } from '../../mailboxes/visibility-store';
import type { SubmissionRow } from '../submissions/submission-store';

/** A submission as the outbox shows it; times are RFC 3339 UTC. */
export type OutboxRow = Omit<SubmissionRow, 'content'> & {
  /** Where the message is now; merging may have moved it. */
  current_conversation_id: string;
  /** Why it does not leave although it is due. */
  stopped_by: 'mailbox_disabled' | 'organization_suspended' | 'outgoing_held' | null;
};

const STOPPED_BY = `
  case when s.finished_at is null and coalesce(s.hold_until, s.created_at) <= now()
       then (select case when b.status <> 'active' then 'mailbox_disabled'
                         when o.status <> 'active' then 'organization_suspended'
                         when o.outgoing = 'hold' or dak_outgoing() = 'hold' then 'outgoing_held' end
               from mailbox b
               left join organization o on o.organization_id = b.organization_id
              where b.organization_id = s.organization_id and b.id = s.mailbox_id) end`;

export const OUTBOX_COLUMNS = `s.id, s.conversation_id, e.conversation_id as current_conversation_id, s.mailbox_id, s.kind,
  s.subject, s.status, s.hold_reason, s.hold_until, s.send_at, s.undo_until, s.cancel_if_reply, s.is_automatic,
  s.at_most_once, s.mail_from, s.message_id_header, s.raw_sha256, s.size_bytes, s.author_type, s.author_id, s.author_name,
  s.author_run_id, s.template_id, s.template_version, s.created_at, s.updated_at, s.finished_at,
  ${STOPPED_BY} as stopped_by`;

/**
 * The submission, if the caller may send in its conversation.
 * @param lock Take its row lock, which every change of its deliveries takes first.
 * @throws NotFoundError, ForbiddenError as `loadConversation`
 */
export async function loadSubmission(
  tx: SqlExecutor,
  principal: Principal,
  id: string,
  lock: boolean,
): Promise<OutboxRow & Pick<SubmissionRow, 'content'>> {
  if (!isUuid(id)) throw new NotFoundError('outbox entry');
  const { rows } = await tx.query<OutboxRow & Pick<SubmissionRow, 'content'>>(
    `select ${OUTBOX_COLUMNS}, s.content
       from submission s
       join message e on e.organization_id = s.organization_id and e.id = s.id
      where s.organization_id = $1 and s.id = $2
      ${lock ? 'for update of s' : ''}`,
    [principal.organizationId, id],
  );
  const row = rows[0];
  if (row === undefined) throw new NotFoundError('outbox entry');
  try {
    await loadConversation(tx, principal, row.current_conversation_id, 'send');
  } catch (error) {
    throw error instanceof NotFoundError ? new NotFoundError('outbox entry') : error;
  }
  return row;
}

/**
 * Moves the deliveries of a submission that are in one of `from` and returns their recipients. The
 * worker claims rows the same way, so a delivery is either moved or being sent, never both.
 */
export async function moveDeliveries(
  tx: SqlExecutor,
  organizationId: string,
  submissionId: string,
  from: readonly string[],
  to: { state: string; nextAttemptAt: string | null; diagnostic: string | null },
): Promise<{ recipient: string; role: 'to' | 'cc' | 'bcc' }[]> {
  const { rows } = await tx.query<{ recipient: string; role: 'to' | 'cc' | 'bcc' }>(
    `update delivery
        set state = $4, next_attempt_at = $5, diagnostic = coalesce($6, diagnostic), updated_at = now()
      where organization_id = $1 and submission_id = $2 and state = any($3::text[])
  returning recipient, role`,
    [organizationId, submissionId, from, to.state, to.nextAttemptAt, to.diagnostic],
  );
  return rows;
}

/** The message of a submission takes a new status; a time given moves it in its conversation. */
export async function setMessageStatus(
  tx: SqlExecutor,
  organizationId: string,
  messageId: string,
  change: { status: MessageRecord['status']; sendAt: string | null; rawSha256: string | null },
  at: string,
): Promise<void> {
  await tx.query(
    `update message
        set status = $3, send_at = $4, raw_sha256 = coalesce($5, raw_sha256), version = version + 1, updated_at = $6,
            sort_at = case when status = 'scheduled' and $3 in ('queued', 'sent') then $6 else sort_at end
      where organization_id = $1 and id = $2`,
    [organizationId, messageId, change.status, change.sendAt, change.rawSha256, at],
  );
}

export async function changeScheduledCount(
  tx: SqlExecutor,
  organizationId: string,
  conversationId: ConversationRecord['id'],
  by: number,
): Promise<void> {
  if (by === 0) return;
  await tx.query(
    `update conversation set scheduled_count = greatest(0, scheduled_count + $3)
      where organization_id = $1 and id = $2`,
    [organizationId, conversationId, by],
  );
}

/** Newest first. The total is counted to one more than the exact limit. */
export async function selectOutboxPage(
  reader: SqlExecutor,
  principal: Principal,
  filter: { mailboxId?: string | undefined; statuses: readonly string[] | 'all' | null },
  window: { limit: number; offset: number; after: readonly unknown[] | null },
): Promise<{ rows: OutboxRow[]; total: number }> {
  const parameters = new SqlParameters();
  const conditions = [
    `s.organization_id = ${parameters.add(principal.organizationId)}`,
    conversationIsOpen(principal, 'send', 'c', parameters),
    'm.deleted_at is null',
  ];
  const { mailboxId, statuses } = filter;
  if (mailboxId !== undefined) conditions.push(`s.mailbox_id = ${parameters.add(mailboxId)}`);
  if (statuses === null) conditions.push('s.finished_at is null');
  else if (statuses !== 'all') {
    conditions.push(`s.status = any(${parameters.add(statuses)}::text[])`);
  }
  const from = `
       from submission s
       join message e      on e.organization_id = s.organization_id and e.id = s.id
       join conversation c on c.organization_id = e.organization_id and c.id = e.conversation_id
       join mailbox m      on m.organization_id = c.organization_id and m.id = c.mailbox_id
      where ${conditions.join(' and ')}`;
  const counted = {
    text: `select count(*) from (select ${from} limit 10001) counted`,
    values: [...parameters.values],
  };
  const after = window.after === null ? '' : `and s.id < ${parameters.add(window.after[0])}`;
  const limit = parameters.add(window.limit);
  const offset = parameters.add(window.offset);
  const [{ rows }, count] = await Promise.all([
    reader.query<OutboxRow>(
      `select ${OUTBOX_COLUMNS} ${from} ${after} order by s.id desc limit ${limit} offset ${offset}`,
      parameters.values,
    ),
    reader.query<{ count: number }>(counted.text, counted.values),
  ]);
  return { rows, total: count.rows[0]!.count };
}

export async function setCanceled(
  tx: SqlExecutor,
  organizationId: string,
  submissionId: string,
  { status, isFinished }: { status: DeliveryState; isFinished: boolean },
  at: string,
): Promise<void> {
  await tx.query(
    `update submission
        set status = $3, hold_reason = null, hold_until = null, content = null, updated_at = $4,
            finished_at = case when $5 then $4::timestamptz end
      where organization_id = $1 and id = $2`,
    [organizationId, submissionId, status, at, isFinished],
  );
}

export async function setMoved(
  tx: SqlExecutor,
  organizationId: string,
  submissionId: string,
  change: { status: string; sendAt: string | null; rawSha256: string; sizeBytes: number },
  at: string,
): Promise<void> {
  await tx.query(
    `update submission
        set status = $3, hold_reason = $4, hold_until = $5, send_at = $5, undo_until = null, raw_sha256 = $6,
            size_bytes = $7, updated_at = $8
      where organization_id = $1 and id = $2`,
    [
      organizationId,
      submissionId,
      change.status,
      change.sendAt === null ? null : 'scheduled',
      change.sendAt,
      change.rawSha256,
      change.sizeBytes,
      at,
    ],
  );
}
