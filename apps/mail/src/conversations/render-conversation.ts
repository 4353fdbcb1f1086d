import type { ConversationRecord } from '@dak/contracts/api';
import { assigneeOf } from './conversation-changes';
import { CONVERSATION, type ConversationRow } from './conversation-row';

/** JSON columns are read as text, so that nothing is parsed to be written again. */
const AS_TEXT = {
  labels: 'array_to_json(c.labels)::text',
  system_labels: 'array_to_json(c.system_labels)::text',
  participants: 'c.participants::text',
  trust: 'c.trust::text',
  metadata: 'c.metadata::text',
} as const;
/** No record shows these. */
const HIDDEN = ['base_subject', 'status_before_snooze', 'resolved_at', 'event_sequence'] as const;
type JsonColumn = keyof typeof AS_TEXT;

/** A conversation as the list reads it. */
export type ConversationTexts = Omit<ConversationRow, JsonColumn | (typeof HIDDEN)[number]> &
  Record<Exclude<JsonColumn, 'trust'>, string> & { trust: string | null };

const texts: Readonly<Record<string, string>> = AS_TEXT;
const hidden: ReadonlySet<string> = new Set(HIDDEN);

/** For `from conversation c`, to be read as {@link ConversationTexts}. */
export const CONVERSATION_TEXT_COLUMNS = CONVERSATION.names
  .filter((name) => !hidden.has(name))
  .map((name) => (texts[name] === undefined ? `c.${name}` : `${texts[name]} as ${name}`))
  .join(', ');

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
