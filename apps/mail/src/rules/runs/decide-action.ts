import type { RuleAction } from '@dak/contracts/api';
import type { Decision } from '../../conversations/change-conversation';
import {
  decideAssignment,
  decideLabels,
  decideSnooze,
} from '../../conversations/changes/decide-changes';
import { decideUpdate } from '../../conversations/changes/decide-update';
import type { ConversationRow } from '../../conversations/conversation-row';
import { requireMayRelease } from '../../conversations/legal-hold';
import { isSend } from '../definition/rule';

type ConversationAction = Exclude<
  RuleAction,
  { type: 'forward' | 'reply_with_template' | 'notify_webhook' }
>;

/** Actions that change the conversation and nothing else. */
export function changesConversation(action: RuleAction): action is ConversationAction {
  return !isSend(action.type) && action.type !== 'notify_webhook';
}

/**
 * The effect of an action on a conversation: the same decisions as for the API.
 * @throws DomainError where the API would refuse
 */
export function decideAction(
  row: ConversationRow,
  action: ConversationAction,
  now: number,
): Decision {
  switch (action.type) {
    case 'add_labels':
      return decideLabels(row, { add: action.labels });
    case 'remove_labels': {
      const decision = decideLabels(row, { remove: action.labels });
      requireMayRelease(null, row.labels, decision.after.labels);
      return decision;
    }
    case 'assign':
      return decideAssignment(row, {
        assignee: { type: 'user', id: action.user_id, name: action.user_name },
      });
    case 'snooze': {
      const until =
        'minutes' in action ? new Date(now + action.minutes * 60_000).toISOString() : action.until;
      return decideSnooze(row, { until, wake_on_reply: true }, now);
    }
    case 'set_department':
      return decideUpdate(row, { department_id: action.department_id }, now);
    case 'set_status':
      return decideUpdate(row, { status: action.status }, now);
    case 'set_priority':
      return decideUpdate(row, { priority: action.priority }, now);
    case 'set_disposition':
      return decideUpdate(row, { disposition: action.disposition }, now);
  }
}
