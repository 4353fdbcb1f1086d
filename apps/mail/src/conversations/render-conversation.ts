import { ConversationRecord } from '@dak/contracts/api';
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

type Field = keyof ConversationRecord;
type Renderer = (row: ConversationTexts) => string;

/** Ids, times and enumerations need no escaping, which saves 50 µs of a page of 50. Others may be left out. */
const PLAIN: readonly (Field & keyof ConversationTexts)[] = [
  'id',
  'mailbox_id',
  'status',
  'disposition',
  'priority',
  'department_id',
  'snoozed_until',
  'last_message_id',
  'last_message_at',
  'last_inbound_at',
  'last_outbound_at',
  'first_response_at',
  'waiting_since',
  'open_draft_id',
  'open_approval_id',
  'merged_into_id',
  'linked_conversation_id',
  'created_at',
  'updated_at',
];

/** Fields that are no column of the same name; one that is neither does not compile. */
const MADE: Record<Exclude<Field, keyof ConversationTexts>, Renderer> = {
  assignee: (row) => (row.assignee_id === null ? 'null' : JSON.stringify(assigneeOf(row))),
  sla: () => 'null',
  summary: () => 'null',
};

function rendererOf(field: Field): Renderer {
  const made = (MADE as Partial<Record<Field, Renderer>>)[field];
  if (made !== undefined) return made;
  const column = field as Field & keyof ConversationTexts;
  if (PLAIN.includes(column)) {
    return (row) => (row[column] === null ? 'null' : `"${String(row[column])}"`);
  }
  if (column in AS_TEXT) return (row) => String(row[column]);
  return (row) => JSON.stringify(row[column]);
}

const KEYED = (Object.keys(ConversationRecord.shape) as Field[]).map(
  (field, index) => [`${index === 0 ? '{' : ','}"${field}":`, rendererOf(field)] as const,
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
