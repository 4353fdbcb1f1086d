import type {
  AssignConversationRequest,
  ChangeLabelsRequest,
  SnoozeConversationRequest,
} from '@dak/contracts/mail';
import { ConflictError, InvalidError, isUuid } from '@dak/kernel';
import { optionalUuid } from '../../mailboxes/create-mailbox';
import type { Decision } from '../change-conversation';
import { assigneeOf } from '../conversation-changes';
import type { ConversationRow } from '../conversation-row';
import { canSnooze, snoozed, woken } from '../conversation-status';
import { changedLabels } from '../label-name';

const MAX_SNOOZE_DAYS = 366;
const DAY = 86_400_000;

/** @throws InvalidError for a label that breaks the grammar or is a system label */
export function decideLabels(
  row: ConversationRow,
  { add, remove }: Pick<ChangeLabelsRequest, 'add' | 'remove'>,
): Decision {
  const labels = changedLabels(row.labels, add, remove);
  const isSame =
    labels.length === row.labels.length && labels.every((name) => row.labels.includes(name));
  return {
    after: { ...row, labels },
    activity: isSame
      ? []
      : [{ type: 'labels_changed', before: row.labels, after: labels, reason: null }],
    reason: 'labels_changed',
  };
}

/** @throws ConflictError `illegal_transition` unless open, pending, waiting or already snoozed */
export function decideSnooze(
  row: ConversationRow,
  request: Pick<SnoozeConversationRequest, 'until' | 'wakeOnReply'>,
  now: number,
): Decision {
  const until = request.until === undefined ? null : snoozeTime(request.until, now);
  if (until === null && !request.wakeOnReply) {
    throw new InvalidError(
      'until is required when wake_on_reply is false: nothing else would wake it.',
    );
  }
  if (!canSnooze(row.status)) {
    throw new ConflictError(
      `A ${row.status} conversation cannot be snoozed: reopen it first.`,
      'illegal_transition',
    );
  }
  return {
    after: snoozed(row, until, request.wakeOnReply),
    activity: [
      {
        type: 'snoozed',
        before: row.status,
        after: { until, wake_on_reply: request.wakeOnReply },
        reason: null,
      },
    ],
    reason: 'snoozed',
  };
}

/** A conversation that is awake stays as it is. */
export function decideUnsnooze(row: ConversationRow, reason: string | null): Decision {
  if (row.status !== 'snoozed') return { after: row, activity: [], reason: 'woken' };
  const after = woken(row);
  return {
    after,
    activity: [{ type: 'woken', before: 'snoozed', after: after.status, reason }],
    reason: 'woken',
  };
}

/** @throws InvalidError when the assignee is no user or agent */
export function decideAssignment(
  row: ConversationRow,
  request: AssignConversationRequest,
): Decision {
  const { assignee } = request;
  if (assignee !== undefined) {
    if (assignee.type !== 'user' && assignee.type !== 'agent') {
      throw new InvalidError('assignee.type must be user or agent.');
    }
    if (!isUuid(assignee.id)) throw new InvalidError('assignee.id must be a UUID.');
  }
  const after: ConversationRow = {
    ...row,
    assignee_type: assignee === undefined ? null : (assignee.type as 'user' | 'agent'),
    assignee_id: assignee?.id.toLowerCase() ?? null,
    assignee_name: assignee?.name ?? null,
    department_id: request.setsDepartment
      ? optionalUuid('department_id', request.departmentId)
      : row.department_id,
  };
  const activity = [];
  const [before, next] = [assigneeOf(row), assigneeOf(after)];
  if (JSON.stringify(before) !== JSON.stringify(next)) {
    activity.push({ type: 'assigned', before, after: next, reason: null });
  }
  if (after.department_id !== row.department_id) {
    activity.push({
      type: 'department_changed',
      before: row.department_id,
      after: after.department_id,
      reason: null,
    });
  }
  return { after, activity, reason: 'assigned' };
}

function snoozeTime(text: string, now: number): string {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new InvalidError('until must be an RFC 3339 date-time.');
  if (time <= now) throw new InvalidError('until must be in the future.');
  if (time - now > MAX_SNOOZE_DAYS * DAY) {
    throw new InvalidError(`until must be at most ${MAX_SNOOZE_DAYS} days ahead.`);
  }
  return new Date(time).toISOString();
}
