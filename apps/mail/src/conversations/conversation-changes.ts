import type { ConversationRow } from './conversation-row';
import type { FieldChange } from './mail-events';

type Assignee = { type: string; id: string; name: string } | null;

export function assigneeOf(
  row: Pick<ConversationRow, 'assignee_type' | 'assignee_id' | 'assignee_name'>,
): Assignee {
  return row.assignee_type === null || row.assignee_id === null
    ? null
    : { type: row.assignee_type, id: row.assignee_id, name: row.assignee_name ?? '' };
}

/** The fields that `conversation.updated` reports. */
const VISIBLE_FIELDS = [
  'mailbox_id',
  'subject',
  'status',
  'disposition',
  'priority',
  'department_id',
  'labels',
  'system_labels',
  'snoozed_until',
  'snooze_wake_on_reply',
  'message_count',
  'unread_count',
  'last_message_id',
  'last_message_at',
  'waiting_since',
  'scheduled_count',
  'open_draft_id',
  'open_approval_id',
  'merged_into_id',
  'metadata',
] as const satisfies (keyof ConversationRow)[];

/** The visible changes of a conversation; a new one has changes from null. */
export function changedFields(
  before: ConversationRow | null,
  after: ConversationRow,
): FieldChange[] {
  const changes: FieldChange[] = [];
  for (const field of VISIBLE_FIELDS) {
    const old = before === null ? null : before[field];
    if (!isSame(old, after[field])) changes.push({ field, before: old, after: after[field] });
  }
  const old = before === null ? null : assigneeOf(before);
  const assignee = assigneeOf(after);
  if (!isSame(old, assignee)) changes.push({ field: 'assignee', before: old, after: assignee });
  return changes;
}

function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object') return false;
  return JSON.stringify(a) === JSON.stringify(b);
}
