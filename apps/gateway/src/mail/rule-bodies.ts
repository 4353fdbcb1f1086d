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
import type { MailDirectory } from './mail-directory';
import { noSuch } from './mail-directory';
import { jsonField } from './request-fields';

const MAX_PRIORITY = 1_000_000;

const condition = z
  .looseObject({
    field: z.string().meta({ description: `${RULE_FIELDS.join(', ')}, or header:<Name>` }),
    operator: z.enum(RULE_OPERATORS).meta({
      description:
        'Texts are compared without regard to case; `matches` takes a regular expression of RE2 syntax.',
    }),
    value: RuleConditionValue.nullable().optional(),
    negate: z.boolean().optional().meta({ default: false }),
  })
  .meta({ id: 'RuleCondition' });

const action = z.looseObject({ type: z.enum(RULE_ACTION_TYPES) }).meta({
  id: 'RuleAction',
  description:
    'add_labels {labels}, remove_labels {labels}, assign {user_id}, set_department {department_id}, set_status {status}, set_priority {priority}, snooze {minutes | until}, set_disposition {disposition}, forward {to}, reply_with_template {template_id, variables}, notify_webhook {webhook_id}',
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

/** The rule as the mail service takes it; names of assigned users come along, as it does not know them. */
export async function toRuleDefinition(
  directory: MailDirectory,
  organizationId: string,
  body: RuleBody,
  at = '',
): Promise<RuleDefinition> {
  return RuleDefinition.fromPartial({
    name: body.name ?? '',
    kind: body.kind ?? 'automation',
    enabled: body.enabled ?? true,
    priority: body.priority ?? 0,
    mailboxIds: body.mailbox_ids ?? [],
    match: body.match ?? 'all',
    conditionsJson: jsonField(body.conditions ?? []),
    actionsJson: jsonField(await withTargets(directory, organizationId, body.actions ?? [], at)),
    stop: body.stop ?? false,
  });
}

/** @throws InvalidError naming the action whose user or department the organization does not have */
async function withTargets(
  directory: MailDirectory,
  organizationId: string,
  actions: NonNullable<RuleBody['actions']>,
  at: string,
): Promise<object[]> {
  const known: object[] = [];
  for (const [index, one] of actions.entries()) {
    const place = `${at}actions[${index}]`;
    const { department_id: departmentId, user_id: userId } = one;
    if (one.type === 'set_department' && isUuidText(departmentId)) {
      await directory.requireDepartments(organizationId, [
        { field: `${place}.department_id`, id: departmentId },
      ]);
    }
    if (one.type !== 'assign' || !isUuidText(userId)) {
      known.push(one);
      continue;
    }
    const name = await directory.userName(organizationId, userId);
    if (name === null) throw noSuch({ field: `${place}.user_id` }, 'user', '/settings/users');
    known.push({ ...one, user_name: name });
  }
  return known;
}

/** Anything else is refused by the mail service, which names the member. */
function isUuidText(value: unknown): value is string {
  return z.uuid().safeParse(value).success;
}
