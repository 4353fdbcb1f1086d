import { CONVERSATION_STATUSES, DISPOSITIONS, PRIORITIES } from '@dak/contracts/api';
import type { UpdateConversationRequest } from '@dak/contracts/mail';
import { ConflictError, InvalidError, VersionMismatchError } from '@dak/kernel';
import { jsonObject, optionalUuid } from '../../mailboxes/create-mailbox';
import { patchedMetadata } from '../../mailboxes/mailbox';
import type { ActivityEntry } from '../activity-store';
import type { Decision } from '../change-conversation';
import type { ConversationRow } from '../conversation-row';
import { canSetStatus, withStatus } from '../conversation-status';

const MAX_SUBJECT = 998;

/**
 * The fields that the caller sent; `unread` needs the messages and is not decided here.
 * @throws VersionMismatchError, InvalidError, ConflictError `illegal_transition` or `approval_open`
 */
export function decideUpdate(
  row: ConversationRow,
  request: UpdateConversationRequest,
  now: number,
): Decision {
  if (request.expectedVersion !== undefined && request.expectedVersion !== row.version) {
    throw new VersionMismatchError('conversation', row.version);
  }
  let after = { ...row };
  const activity: ActivityEntry[] = [];
  const note = (type: string, before: unknown, value: unknown) => {
    if (before !== value) activity.push({ type, before, after: value, reason: null });
  };
  for (const field of request.fields) {
    switch (field) {
      case 'status':
        after = statusSet(after, oneOf(field, CONVERSATION_STATUSES, request.status), now);
        note('status_changed', row.status, after.status);
        break;
      case 'priority':
        after.priority = oneOf(field, PRIORITIES, request.priority);
        note('priority_changed', row.priority, after.priority);
        break;
      case 'disposition':
        after.disposition = oneOf(field, DISPOSITIONS, request.disposition);
        note('disposition_changed', row.disposition, after.disposition);
        break;
      case 'subject':
        after.subject = subjectOf(request.subject);
        note('subject_changed', row.subject, after.subject);
        break;
      case 'department_id':
        after.department_id = optionalUuid(field, request.departmentId);
        note('department_changed', row.department_id, after.department_id);
        break;
      case 'metadata':
        after.metadata = patchedMetadata(row.metadata, jsonObject(field, request.metadataJson));
        break;
    }
  }
  return { after, activity, reason: activity[0]?.type ?? 'updated' };
}

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

function subjectOf(text: string | undefined): string {
  if (text === undefined) throw new InvalidError('subject must be a string.');
  if (/\p{Cc}/u.test(text)) throw new InvalidError('subject must not hold line breaks.');
  if (text.length > MAX_SUBJECT) {
    throw new InvalidError(`subject must have at most ${MAX_SUBJECT} characters.`);
  }
  return text;
}

function oneOf<T extends string>(field: string, known: readonly T[], text: string | undefined): T {
  const value = known.find((name) => name === text);
  if (value === undefined) throw new InvalidError(`${field} must be one of ${known.join(', ')}.`);
  return value;
}
