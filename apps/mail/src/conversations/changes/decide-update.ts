import type { UpdateConversation } from '@dak/contracts/api';
import { ConflictError } from '@dak/kernel';
import { patchedMetadata } from '../../mailboxes/mailbox';
import type { ActivityEntry } from '../activity-store';
import type { Decision } from '../change-conversation';
import type { ConversationRow } from '../conversation-row';
import { canSetStatus, withStatus } from '../conversation-status';

/**
 * The fields that the caller sent; `unread` needs the messages and is not decided here.
 * @throws ConflictError `illegal_transition` or `approval_open`
 * @throws InvalidError when there would be too much metadata
 */
export function decideUpdate(
  row: ConversationRow,
  { status, priority, disposition, subject, department_id, metadata }: UpdateConversation,
  now: number,
): Decision {
  const after: ConversationRow = {
    ...(status === undefined ? row : statusSet(row, status, now)),
    ...(priority !== undefined && { priority }),
    ...(disposition !== undefined && { disposition }),
    ...(subject !== undefined && { subject }),
    ...(department_id !== undefined && { department_id }),
    ...(metadata !== undefined && { metadata: patchedMetadata(row.metadata, metadata) }),
  };
  const activity = NOTED.flatMap(([type, field]): ActivityEntry[] =>
    row[field] === after[field]
      ? []
      : [{ type, before: row[field], after: after[field], reason: null }],
  );
  return { after, activity, reason: activity[0]?.type ?? 'updated' };
}

/** Changes that stand in the activity of a conversation, in this order. */
const NOTED = [
  ['status_changed', 'status'],
  ['priority_changed', 'priority'],
  ['disposition_changed', 'disposition'],
  ['subject_changed', 'subject'],
  ['department_changed', 'department_id'],
] as const;

function statusSet(
  row: ConversationRow,
  status: ConversationRow['status'],
  now: number,
): ConversationRow {
  if (!canSetStatus(row.status, status)) {
    throw new ConflictError(
      status === 'snoozed'
        ? 'status cannot be set to snoozed: use the snooze operation.'
        : status === 'closed'
          ? 'status cannot be set to closed: a resolved conversation closes by itself.'
          : `status cannot go from ${row.status} to ${status}: write a new message, it begins a linked conversation.`,
      'illegal_transition',
    );
  }
  if (status === 'resolved' && row.open_approval_id !== null) {
    throw new ConflictError(
      'The conversation has an open approval: decide it before resolving.',
      'approval_open',
    );
  }
  return withStatus(row, status, new Date(now).toISOString());
}
