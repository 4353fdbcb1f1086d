import type { ConversationRecord } from '@dak/contracts/api';
import { assigneeOf } from './conversation-changes';
import type { ConversationRow } from './conversation-row';

type JsonColumn = 'labels' | 'system_labels' | 'participants' | 'trust' | 'metadata';

/** A conversation as the list reads it: JSON columns still as text, so that nothing is parsed to be written again. */
export type ConversationTexts = Omit<
  ConversationRow,
  JsonColumn | 'base_subject' | 'status_before_snooze' | 'resolved_at' | 'event_sequence'
> &
  Record<Exclude<JsonColumn, 'trust'>, string> & { trust: string | null };

/** For `from conversation c`, to be read as {@link ConversationTexts}. */
export const CONVERSATION_TEXT_COLUMNS = `c.id, c.mailbox_id, c.number, c.subject, c.preview, c.status, c.disposition,
  c.priority, c.department_id, c.assignee_type, c.assignee_id, c.assignee_name, array_to_json(c.labels)::text as labels,
  array_to_json(c.system_labels)::text as system_labels, c.participants::text as participants, c.snoozed_until,
  c.snooze_wake_on_reply, c.message_count, c.unread_count, c.attachment_count, c.size_bytes, c.last_message_id,
  c.last_message_at, c.last_inbound_at, c.last_outbound_at, c.first_response_at, c.waiting_since, c.open_draft_id,
  c.open_approval_id, c.scheduled_count, c.trust::text as trust, c.merged_into_id, c.linked_conversation_id,
  c.metadata::text as metadata, c.created_at, c.updated_at, c.version`;

type Renderer = (row: ConversationTexts) => string;

/** Ids, times and enumerations need no escaping. */
const plain =
  (key: keyof ConversationTexts): Renderer =>
  (row) =>
    row[key] === null ? 'null' : `"${String(row[key])}"`;
const raw =
  (key: keyof ConversationTexts): Renderer =>
  (row) =>
    String(row[key] ?? 'null');
const text =
  (key: 'subject' | 'preview'): Renderer =>
  (row) =>
    JSON.stringify(row[key]);

/** One renderer per field of the public record; a new field does not compile without its own. */
const FIELDS: Record<keyof ConversationRecord, Renderer> = {
  id: plain('id'),
  mailbox_id: plain('mailbox_id'),
  number: raw('number'),
  subject: text('subject'),
  preview: text('preview'),
  status: plain('status'),
  disposition: plain('disposition'),
  priority: plain('priority'),
  department_id: plain('department_id'),
  assignee: (row) => (row.assignee_id === null ? 'null' : JSON.stringify(assigneeOf(row))),
  labels: raw('labels'),
  system_labels: raw('system_labels'),
  participants: raw('participants'),
  snoozed_until: plain('snoozed_until'),
  snooze_wake_on_reply: raw('snooze_wake_on_reply'),
  message_count: raw('message_count'),
  unread_count: raw('unread_count'),
  attachment_count: raw('attachment_count'),
  size_bytes: raw('size_bytes'),
  last_message_id: plain('last_message_id'),
  last_message_at: plain('last_message_at'),
  last_inbound_at: plain('last_inbound_at'),
  last_outbound_at: plain('last_outbound_at'),
  first_response_at: plain('first_response_at'),
  waiting_since: plain('waiting_since'),
  sla: () => 'null',
  open_draft_id: plain('open_draft_id'),
  open_approval_id: plain('open_approval_id'),
  scheduled_count: raw('scheduled_count'),
  trust: raw('trust'),
  summary: () => 'null',
  merged_into_id: plain('merged_into_id'),
  linked_conversation_id: plain('linked_conversation_id'),
  metadata: raw('metadata'),
  created_at: plain('created_at'),
  updated_at: plain('updated_at'),
  version: raw('version'),
};
const KEYED = Object.entries(FIELDS).map(
  ([key, render], index) => [`${index === 0 ? '{' : ','}"${key}":`, render] as const,
);

function renderTexts(row: ConversationTexts): string {
  let json = '';
  for (const [key, render] of KEYED) json += key + render(row);
  return json + '}';
}

/** The page as one JSON array. */
export function renderConversations(rows: readonly ConversationTexts[]): Buffer {
  let json = '[';
  for (const row of rows) json += (json.length > 1 ? ',' : '') + renderTexts(row);
  return Buffer.from(json + ']', 'utf8');
}

export function renderConversation(row: ConversationRow): Buffer {
  return Buffer.from(
    renderTexts({
      ...row,
      labels: JSON.stringify(row.labels),
      system_labels: JSON.stringify(row.system_labels),
      participants: JSON.stringify(row.participants),
      trust: row.trust === null ? null : JSON.stringify(row.trust),
      metadata: JSON.stringify(row.metadata),
    }),
    'utf8',
  );
}
