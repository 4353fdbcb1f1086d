import { tableColumns, type SqlExecutor } from '@dak/platform/postgres';
import type { DeliveryState } from '../../conversations/messages/delivery-state';
import { storable } from '../../db/sql-parameters';

/** A row of `submission`; times are RFC 3339 UTC. */
export interface SubmissionRow {
  id: string;
  conversation_id: string;
  mailbox_id: string;
  kind: 'compose' | 'reply' | 'forward';
  subject: string;
  status: DeliveryState;
  hold_reason: 'scheduled' | 'undo' | 'approval' | 'quota' | null;
  hold_until: string | null;
  send_at: string | null;
  undo_until: string | null;
  cancel_if_reply: boolean;
  is_automatic: boolean;
  at_most_once: boolean;
  mail_from: string;
  message_id_header: string;
  raw_sha256: string;
  size_bytes: number;
  author_type: string;
  author_id: string | null;
  author_name: string;
  author_run_id: string | null;
  content: DraftContent | null;
  template_id: string | null;
  template_version: number | null;
  /** W3C trace context of the request. */
  traceparent: string | null;
  created_at: string;
  updated_at: string;
  finished_at: string | null;
}

const SUBMISSION = tableColumns<SubmissionRow>('submission', {
  id: 'fixed',
  conversation_id: 'fixed',
  mailbox_id: 'fixed',
  kind: 'fixed',
  subject: 'fixed',
  status: 'changes',
  hold_reason: 'changes',
  hold_until: 'changes',
  send_at: 'changes',
  undo_until: 'changes',
  cancel_if_reply: 'fixed',
  is_automatic: 'fixed',
  at_most_once: 'fixed',
  mail_from: 'fixed',
  message_id_header: 'fixed',
  raw_sha256: 'changes',
  size_bytes: 'changes',
  author_type: 'fixed',
  author_id: 'fixed',
  author_name: 'fixed',
  author_run_id: 'fixed',
  content: 'changes',
  template_id: 'fixed',
  template_version: 'fixed',
  created_at: 'fixed',
  updated_at: 'changes',
  finished_at: 'changes',
  traceparent: 'fixed',
});

/** What undoing gives back: the fields of a draft, and the files of the mail. */
export interface DraftContent {
  kind: 'compose' | 'reply';
  reply_mode: 'sender' | 'all' | 'custom' | null;
  to: string[];
  cc: string[];
  bcc: string[];
  reply_to: string[];
  subject: string | null;
  body_text: string | null;
  body_html: string | null;
  sets_signature: boolean;
  signature_id: string | null;
  signature_position: string | null;
  undo_seconds: number | null;
  quote_original: boolean;
  labels: string[];
  metadata: Record<string, string | number | boolean>;
}

export interface NewDelivery {
  id: string;
  submission_id: string;
  position: number;
  role: 'to' | 'cc' | 'bcc';
  recipient: string;
  state: DeliveryState;
  priority: number;
  next_attempt_at: string;
}

export async function insertSubmissions(
  tx: SqlExecutor,
  organizationId: string,
  rows: readonly SubmissionRow[],
  deliveries: readonly NewDelivery[],
  at: string,
): Promise<void> {
  const added = rows.map((row) => ({ ...row, organization_id: organizationId }));
  const submissions = tx.query(SUBMISSION.insert, [JSON.stringify(added, storable)]);
  const theirs = tx.query(
    `insert into delivery (organization_id, id, submission_id, position, role, recipient, state, priority,
                           next_attempt_at, created_at, updated_at)
     select $1, r.id, r.submission_id, r.position, r.role, r.recipient, r.state, r.priority,
            case r.state when 'queued' then least(r.next_attempt_at, now()) else r.next_attempt_at end, $3, $3
       from json_to_recordset($2) as r (id uuid, submission_id uuid, position smallint, role text, recipient text,
                                        state text, priority smallint, next_attempt_at timestamptz)`,
    [organizationId, JSON.stringify(deliveries, storable), at],
  );
  await Promise.all([submissions, theirs]);
}

/** The newest message of each conversation, under the conversations' row locks. */
export async function lockLastMessages(
  tx: SqlExecutor,
  organizationId: string,
  conversationIds: readonly string[],
): Promise<Map<string, string | null>> {
  const { rows } = await tx.query<{ id: string; last_message_id: string | null }>(
    `select id, last_message_id
       from conversation
      where organization_id = $1 and id = any($2::uuid[])
      order by id
        for update`,
    [organizationId, conversationIds],
  );
  return new Map(rows.map((row) => [row.id, row.last_message_id]));
}

/** Automatic mail that went out in the conversation within the last hour. */
export async function countRecentAutomatic(
  tx: SqlExecutor,
  organizationId: string,
  conversationId: string,
): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select count(*)
       from message
      where organization_id = $1 and conversation_id = $2 and direction = 'outbound'
        and (flags ->> 'auto_generated')::boolean and created_at > now() - interval '1 hour'`,
    [organizationId, conversationId],
  );
  return rows[0]!.count;
}

/** Facts of a new submission that its conversation keeps: the number scheduled, and the caller's metadata. */
export async function annotateConversations(
  tx: SqlExecutor,
  organizationId: string,
  notes: readonly { id: string; scheduled: number; metadata: object }[],
): Promise<void> {
  if (notes.length === 0) return;
  await tx.query(
    `update conversation c
        set scheduled_count = greatest(0, c.scheduled_count + n.scheduled), metadata = c.metadata || n.metadata
       from (select id, sum(scheduled) as scheduled, (jsonb_agg(metadata) -> -1) as metadata
               from json_to_recordset($2) as r (id uuid, scheduled integer, metadata jsonb)
              group by id) n
      where c.organization_id = $1 and c.id = n.id`,
    [organizationId, JSON.stringify(notes, storable)],
  );
}
