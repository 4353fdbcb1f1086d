import {
  CONVERSATION_LIMITS,
  type ChangeLabels,
  type SnoozeConversation,
} from '@dak/contracts/api';
import { ConflictError, InvalidError } from '@dak/kernel';
import type { Decision } from '../change-conversation';
import { assigneeOf } from '../conversation-changes';
import type { ConversationRow } from '../conversation-row';
import { canSnooze, snoozed, woken } from '../conversation-status';
import { changedLabels } from '../changed-labels';
import type { Assignment } from './parse-changes';

const { snooze_days: MAX_SNOOZE_DAYS } = CONVERSATION_LIMITS;
const DAY = 86_400_000;

/** @throws InvalidError when there would be too many */
export function decideLabels(
  row: ConversationRow,
  { add = [], remove = [] }: Readonly<ChangeLabels>,
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
  { until = null, wake_on_reply }: SnoozeConversation,
  now: number,
): Decision {
  if (until !== null) requireAhead(until, now);
  if (!canSnooze(row.status)) {
    throw new ConflictError(
      `A ${row.status} conversation cannot be snoozed: reopen it first.`,
      'illegal_transition',
    );
  }
  return {
    after: snoozed(row, until, wake_on_reply),
    activity: [
      {
        type: 'snoozed',
        before: row.status,
        after: { until, wake_on_reply },
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

export function decideAssignment(
  row: ConversationRow,
  { assignee, department_id = row.department_id }: Assignment,
): Decision {
  const after: ConversationRow = {
    ...row,
    assignee_type: assignee?.type ?? null,
    assignee_id: assignee?.id ?? null,
    assignee_name: assignee?.name ?? null,
    department_id,
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

function requireAhead(until: string, now: number): void {
  const ahead = Date.parse(until) - now;
  if (ahead <= 0) throw new InvalidError('until must be in the future.');
  if (ahead > MAX_SNOOZE_DAYS * DAY) {
    throw new InvalidError(`until must be at most ${MAX_SNOOZE_DAYS} days ahead.`);
  }
}
