import type { MessageRecord } from '@dak/contracts/api';
import { insertOfRows, type SqlExecutor } from '@dak/platform/postgres';
import type { DeliveryState } from '../conversations/messages/delivery-state';
import { storable } from '../db/sql-parameters';
import type { AttemptResult } from './attempt-result';

export interface LockedSubmission {
  id: string;
  /** Where the message is now; merging may have moved it. */
  conversation_id: string;
  subject: string;
  message_id_header: string;
  message_status: MessageRecord['status'];
  author_type: string;
  author_id: string | null;
  author_name: string;
  author_run_id: string | null;
  created_at: string;
}

// The ids stand beside every list of changes: the planner takes a list for a hundred rows and would read
// a small table as a whole, but knows that ids are few and looks them up.

/** In order of id, so that two groups never wait for each other. */
export async function lockSubmissions(
  tx: SqlExecutor,
  organizationId: string,
  ids: readonly string[],
): Promise<LockedSubmission[]> {
  const { rows } = await tx.query<LockedSubmission>(
    `select s.id, m.conversation_id, s.subject, s.message_id_header, m.status as message_status,
            s.author_type, s.author_id, s.author_name, s.author_run_id, s.created_at
       from submission s
       join message m on m.organization_id = s.organization_id and m.id = s.id
      where s.organization_id = $1 and s.id = any($2::uuid[])
      order by s.id
        for update of s`,
    [organizationId, ids],
  );
  return rows;
}

/**
 * The deliveries that took their result, with the role of their recipient. A delivery that was taken back as uncertain still
 * takes it, for now it is known; one that was claimed again does not.
 */
export async function updateDeliveries(
  tx: SqlExecutor,
  organizationId: string,
  results: readonly AttemptResult[],
  at: string,
): Promise<Map<string, 'to' | 'cc' | 'bcc'>> {
  const json = JSON.stringify(
    results.map(({ delivery, result, route }) => ({
      id: delivery.id,
      epoch: delivery.epoch,
      state: result.state,
      next_attempt_at:
        result.nextAttemptAt === null ? null : new Date(result.nextAttemptAt).toISOString(),
      phase: result.phase,
      transport: route,
      smtp_code: result.smtpCode,
      enhanced: result.enhanced,
      diagnostic: result.diagnostic,
    })),
    storable,
  );
  const { rows } = await tx.query<{ id: string; role: 'to' | 'cc' | 'bcc' }>(
    `update delivery d
        set state = r.state, next_attempt_at = r.next_attempt_at, phase = r.phase, transport = r.transport,
            smtp_code = r.smtp_code, enhanced = r.enhanced, diagnostic = r.diagnostic,
            was_uncertain = d.was_uncertain or r.state = 'uncertain',
            lease_owner = null, lease_until = null, updated_at = $3
       from json_to_recordset($2) as r (id uuid, epoch integer, state text, next_attempt_at timestamptz, phase text,
                                        transport text, smtp_code integer, enhanced text, diagnostic text)
      where d.organization_id = $1 and d.id = r.id and d.id = any($4::uuid[]) and d.lease_epoch = r.epoch
        and d.state in ('sending', 'uncertain')
  returning d.id, d.role`,
    [organizationId, json, at, results.map(({ delivery }) => delivery.id)],
  );
  return new Map(rows.map((row) => [row.id, row.role]));
}

export async function insertAttempts(
  tx: SqlExecutor,
  organizationId: string,
  results: readonly AttemptResult[],
): Promise<void> {
  const rows = results.map(({ delivery, result, route, startedAt, finishedAt }) => ({
    organization_id: organizationId,
    delivery_id: delivery.id,
    attempt: delivery.attempts,
    started_at: new Date(startedAt).toISOString(),
    finished_at: new Date(finishedAt).toISOString(),
    transport: route,
    phase: result.phase,
    outcome: result.outcome,
    smtp_code: result.smtpCode,
    enhanced: result.enhanced,
    diagnostic: result.diagnostic,
  }));
  // An attempt that was taken back has its row already.
  await tx.query(`${insertOfRows('delivery_attempt', rows)} on conflict do nothing`, [
    JSON.stringify(rows, storable),
  ]);
}

export async function selectStates(
  tx: SqlExecutor,
  organizationId: string,
  submissionIds: readonly string[],
): Promise<{ submission_id: string; states: DeliveryState[]; is_finished: boolean }[]> {
  const { rows } = await tx.query<{
    submission_id: string;
    states: DeliveryState[];
    is_finished: boolean;
  }>(
    `select submission_id, array_agg(distinct state) as states,
            bool_and(state in ('sent', 'bounced', 'failed', 'suppressed', 'canceled')
                     or state = 'uncertain' and next_attempt_at is null) as is_finished
       from delivery
      where organization_id = $1 and submission_id = any($2::uuid[])
      group by submission_id`,
    [organizationId, submissionIds],
  );
  return rows;
}

/** Drops the original request once nothing can be undone; the message has its contents. */
export async function updateSubmissions(
  tx: SqlExecutor,
  organizationId: string,
  changes: readonly { id: string; status: DeliveryState; is_finished: boolean }[],
  at: string,
): Promise<void> {
  await tx.query(
    `update submission s
        set status = r.status, hold_reason = null, updated_at = $3,
            finished_at = case when r.is_finished then coalesce(s.finished_at, $3) end,
            content     = case when r.is_finished then null else s.content end
       from json_to_recordset($2) as r (id uuid, status text, is_finished boolean)
      where s.organization_id = $1 and s.id = r.id and s.id = any($4::uuid[])`,
    [organizationId, JSON.stringify(changes), at, changes.map(({ id }) => id)],
  );
}

/** Scheduled mail joins the conversation when it is sent. */
export async function updateMessages(
  tx: SqlExecutor,
  organizationId: string,
  changes: readonly { id: string; status: MessageRecord['status']; is_sent: boolean }[],
  at: string,
): Promise<void> {
  await tx.query(
    `update message m
        set status = r.status, version = m.version + 1, updated_at = $3,
            sort_at = case when m.status = 'scheduled' and r.status <> 'canceled' then $3 else m.sort_at end,
            sent_at = case when r.is_sent then coalesce(m.sent_at, $3) else m.sent_at end
       from json_to_recordset($2) as r (id uuid, status text, is_sent boolean)
      where m.organization_id = $1 and m.id = r.id and m.id = any($4::uuid[])
        and (m.status <> r.status or r.is_sent and m.sent_at is null)`,
    [organizationId, JSON.stringify(changes), at, changes.map(({ id }) => id)],
  );
}

/** Numbers for events of these conversations; takes their row locks. */
export async function numberEvents(
  tx: SqlExecutor,
  organizationId: string,
  counts: readonly { id: string; count: number }[],
): Promise<{ id: string; last: number; mailbox_id: string; department_id: string | null }[]> {
  const { rows } = await tx.query<{
    id: string;
    last: number;
    mailbox_id: string;
    department_id: string | null;
  }>(
    `update conversation c
        set event_sequence = c.event_sequence + n.count
       from unnest($2::uuid[], $3::bigint[]) as n (id, count)
      where c.organization_id = $1 and c.id = n.id and c.id = any($2::uuid[])
  returning c.id, c.event_sequence as last, c.mailbox_id, c.department_id`,
    [organizationId, counts.map(({ id }) => id), counts.map(({ count }) => count)],
  );
  return rows;
}

export interface UnrecordedRow {
  id: string;
  submission_id: string;
  recipient: string;
  attempts: number;
  lease_epoch: number;
  was_uncertain: boolean;
  conversation_id: string;
  mailbox_id: string;
  mail_from: string;
  raw_sha256: string;
  is_automatic: boolean;
  at_most_once: boolean;
  cancel_if_reply: boolean;
  created_at: string;
  traceparent: string | null;
}

/** Deliveries still under their entry's epoch, without a recorded result. */
export async function selectUnrecorded(
  tx: SqlExecutor,
  organizationId: string,
  entries: readonly { readonly deliveryId: string; readonly epoch: number }[],
): Promise<UnrecordedRow[]> {
  const { rows } = await tx.query<UnrecordedRow>(
    `select d.id, d.submission_id, d.recipient, d.attempts, d.lease_epoch, d.was_uncertain,
            s.conversation_id, s.mailbox_id, s.mail_from, s.raw_sha256, s.is_automatic, s.at_most_once,
            s.cancel_if_reply, s.created_at, s.traceparent
       from unnest($2::uuid[], $3::integer[]) as k (id, epoch)
       join delivery d   on d.organization_id = $1 and d.id = k.id and d.lease_epoch = k.epoch
       join submission s on s.organization_id = $1 and s.id = d.submission_id
      where d.state in ('sending', 'uncertain')`,
    [
      organizationId,
      entries.map(({ deliveryId }) => deliveryId),
      entries.map(({ epoch }) => epoch),
    ],
  );
  return rows;
}

/** By one for each time that a conversation is named. */
export async function lowerScheduledCounts(
  tx: SqlExecutor,
  organizationId: string,
  conversationIds: readonly string[],
): Promise<void> {
  await tx.query(
    `update conversation c
        set scheduled_count = greatest(0, c.scheduled_count - n.count)
       from (select id, count(*) from unnest($2::uuid[]) as id group by id) n
      where c.organization_id = $1 and c.id = n.id`,
    [organizationId, conversationIds],
  );
}
