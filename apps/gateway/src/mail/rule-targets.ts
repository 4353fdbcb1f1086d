import type { CreateRule, RuleAction, UpdateRule } from '@dak/contracts/api';
import { RuleDefinition } from '@dak/contracts/mail';
import { messageOf } from '@dak/contracts/requests';
import type { Principal } from '@dak/kernel';
import type { CallOptions } from '@dak/platform/grpc';
import type { RouteParts } from '../backend/backend';
import { noSuch } from '../backend/no-such';

/** What checks the users, departments and webhooks of actions, which the mail service does not know. */
export type RuleTargets = Pick<RouteParts, 'directory' | 'seesWebhook'>;

export interface Caller {
  readonly principal: Pick<Principal, 'organizationId'>;
  readonly call: CallOptions;
}

/** The rule as the mail service takes it; the names of assigned users come along, as it does not know them. */
export async function toRuleDefinition(
  targets: RuleTargets,
  caller: Caller,
  body: CreateRule | UpdateRule,
  at = '',
): Promise<RuleDefinition> {
  const actions = [];
  for (const [index, action] of (body.actions ?? []).entries()) {
    actions.push(await withTarget(targets, caller, action, `${at}actions[${index}]`));
  }
  return messageOf(RuleDefinition, { ...body, actions });
}

/** @throws InvalidError when the organization has no such user, department or webhook */
async function withTarget(
  { directory, seesWebhook }: RuleTargets,
  { principal: { organizationId }, call }: Caller,
  action: RuleAction,
  at: string,
): Promise<RuleAction> {
  switch (action.type) {
    case 'set_department': {
      const { department_id: id } = action;
      const field = `${at}.department_id`;
      if (id !== null) await directory.requireDepartments(organizationId, [{ field, id }]);
      return action;
    }
    case 'notify_webhook': {
      const asked = { ...call, isRead: true, idempotency: undefined };
      if (await seesWebhook(action.webhook_id, asked)) return action;
      throw noSuch({ field: `${at}.webhook_id` }, 'webhook', '/webhooks');
    }
    case 'assign': {
      const name = await directory.userName(organizationId, action.user_id);
      if (name === null) throw noSuch({ field: `${at}.user_id` }, 'user', '/settings/users');
      return { ...action, user_name: name };
    }
    default:
      return action;
  }
}
