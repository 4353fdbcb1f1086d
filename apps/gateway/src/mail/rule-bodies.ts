import { z } from 'zod';
import {
  RULE_ACTION_TYPES,
  RULE_FIELDS,
  RULE_KINDS,
  RULE_MATCHES,
  RULE_OPERATORS,
  RuleConditionValue,
} from '@dak/contracts/api';
import { RuleDefinition } from '@dak/contracts/mail';
import type { Principal } from '@dak/kernel';
import type { CallOptions } from '@dak/platform/grpc';
import type { RouteParts } from '../backend/backend';
import { noSuch } from '../backend/no-such';
import { jsonField } from '../http/request-fields';

const MAX_PRIORITY = 1_000_000;

const condition = z
  .looseObject({
    field: z.string().meta({ description: `${RULE_FIELDS.join(', ')}, or header:<Name>` }),
    operator: z.enum(RULE_OPERATORS).meta({
      description:
        'Texts are compared without regard to case; `matches` takes a regular expression of RE2 syntax and looks at the first 65 536 characters.',
    }),
    value: RuleConditionValue.nullable().optional(),
    negate: z.boolean().optional().meta({ default: false }),
  })
  .meta({ id: 'RuleCondition' });

const action = z.looseObject({ type: z.enum(RULE_ACTION_TYPES) }).meta({
  id: 'RuleAction',
  description:
    'add_labels {labels}, remove_labels {labels}, assign {user_id}, set_department {department_id}, set_status {status}, set_priority {priority}, snooze {minutes | until}, set_disposition {disposition}, forward {to}, reply_with_template {template_id, template_version, variables} (the newest version when saved, unless one is given), notify_webhook {webhook_id}',
  examples: [{ type: 'add_labels', labels: ['billing'] }],
});

export const ruleFields = {
  name: z.string().min(1).max(200),
  kind: z.enum(RULE_KINDS).optional().meta({ default: 'automation' }),
  enabled: z.boolean().optional().meta({ default: true }),
  priority: z
    .int()
    .min(-MAX_PRIORITY)
    .max(MAX_PRIORITY)
    .optional()
    .meta({ default: 0, description: 'Lower numbers run first.' }),
  mailbox_ids: z
    .array(z.uuid())
    .max(500)
    .optional()
    .meta({ description: 'Empty = all, which only an admin may choose.' }),
  match: z.enum(RULE_MATCHES).optional().meta({ default: 'all' }),
  conditions: z.array(condition).max(50).optional().meta({ description: 'None = every mail.' }),
  actions: z.array(action).min(1).max(20),
  stop: z
    .boolean()
    .optional()
    .meta({ default: false, description: 'After a match no later rule is looked at.' }),
};

export const createRuleBody = z.object(ruleFields).meta({
  id: 'CreateRule',
  examples: [
    {
      name: 'Invoices to accounting',
      kind: 'labeling',
      conditions: [{ field: 'subject', operator: 'contains', value: 'invoice' }],
      actions: [{ type: 'add_labels', labels: ['billing'] }],
    },
  ],
});
export const updateRuleBody = z.object(ruleFields).partial().meta({ id: 'UpdateRule' });

const subject = {
  rule: createRuleBody.optional(),
  rule_id: z.uuid().optional(),
};
const isOneSubject = (body: { rule?: unknown; rule_id?: unknown }) =>
  (body.rule === undefined) !== (body.rule_id === undefined);
const ONE_SUBJECT =
  'Send either rule or rule_id: one that is not stored, or the id of one that is.';

export const testRuleBody = z
  .object({ ...subject, message_id: z.uuid() })
  .refine(isOneSubject, ONE_SUBJECT)
  .meta({ id: 'TestRule' });

const time = z.iso.datetime({ offset: true }).optional();

export const dryRunBody = z
  .object({
    ...subject,
    from: time.meta({ description: 'On received_at; 30 days before `to` when left out.' }),
    to: time.meta({ description: 'Now when left out.' }),
  })
  .refine(isOneSubject, ONE_SUBJECT)
  .meta({ id: 'StartRuleDryRun' });

export type RuleBody = z.output<typeof updateRuleBody>;

/** Whom and what an action can name beyond the mail service. */
export type RuleTargets = Pick<RouteParts, 'directory' | 'seesWebhook'>;

export interface Caller {
  readonly principal: Pick<Principal, 'organizationId'>;
  readonly call: CallOptions;
}

/** The rule as the mail service takes it; names of assigned users come along, as it does not know them. */
export async function toRuleDefinition(
  targets: RuleTargets,
  caller: Caller,
  body: RuleBody,
  at = '',
): Promise<RuleDefinition> {
  const actions = [];
  for (const [index, action] of (body.actions ?? []).entries()) {
    actions.push(await withTarget(targets, caller, action, `${at}actions[${index}]`));
  }
  return RuleDefinition.fromPartial({
    name: body.name ?? '',
    kind: body.kind ?? 'automation',
    enabled: body.enabled ?? true,
    priority: body.priority ?? 0,
    mailboxIds: body.mailbox_ids ?? [],
    match: body.match ?? 'all',
    conditionsJson: jsonField(body.conditions ?? []),
    actionsJson: jsonField(actions),
    stop: body.stop ?? false,
  });
}

/** @throws InvalidError when the organization has no such user, department or webhook */
async function withTarget(
  { directory, seesWebhook }: RuleTargets,
  { principal: { organizationId }, call }: Caller,
  action: NonNullable<RuleBody['actions']>[number],
  at: string,
): Promise<object> {
  // What is no UUID is refused by the mail service, which knows all members.
  const idOf = (name: string): string | null => {
    const id = action[name];
    return z.uuid().safeParse(id).success ? String(id) : null;
  };
  switch (action.type) {
    case 'set_department': {
      const id = idOf('department_id');
      const field = `${at}.department_id`;
      if (id !== null) await directory.requireDepartments(organizationId, [{ field, id }]);
      return action;
    }
    case 'notify_webhook': {
      const id = idOf('webhook_id');
      const asked = { ...call, isRead: true, idempotency: undefined };
      if (id !== null && !(await seesWebhook(id, asked))) {
        throw noSuch({ field: `${at}.webhook_id` }, 'webhook', '/webhooks');
      }
      return action;
    }
    case 'assign': {
      const id = idOf('user_id');
      if (id === null) return action;
      const name = await directory.userName(organizationId, id);
      if (name === null) throw noSuch({ field: `${at}.user_id` }, 'user', '/settings/users');
      return { ...action, user_name: name };
    }
    default:
      return action;
  }
}
