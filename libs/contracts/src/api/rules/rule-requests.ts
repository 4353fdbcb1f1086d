import { z } from 'zod';
import {
  closedShape,
  fewMembers,
  fitsJson,
  idListShape,
  idShape,
  lineShape,
  timeShape,
  utcTime,
} from '../../requests';
import { CONVERSATION_LIMITS } from '../conversations/conversation-limits';
import { labelShape, MAX_LABELS } from '../labels/label-requests';
import { DISPOSITIONS, PRIORITIES } from '../conversations/conversation-records';
import {
  fieldShapeOf,
  headerNameOf,
  operatorsOf,
  RULE_FIELDS,
  RULE_OPERATORS,
  valueShapeOf,
  type RuleFieldShape,
  type RuleOperator,
} from './rule-fields';
import { RULE_LIMITS } from './rule-limits';
import {
  RULE_ACTION_TYPES,
  RULE_KINDS,
  RULE_MATCHES,
  RuleConditionValue,
  type RuleActionType,
  type RuleKind,
} from './rule-records';

const MAX_PRIORITY = 1_000_000;
const MAX_MAILBOXES = 500;
const MAX_LIST = 200;
const MAX_CONDITIONS_BYTES = 256 * 1024;
const MAX_FORWARD_RECIPIENTS = 10;
const MAX_SNOOZE_MINUTES = CONVERSATION_LIMITS.snooze_days * 24 * 60;
const MAX_VARIABLES = 64;
const MAX_VARIABLES_BYTES = 16 * 1024;
const MAX_VERSION = 2_000_000_000;

const { conditions_per_rule: MAX_CONDITIONS, actions_per_rule: MAX_ACTIONS } = RULE_LIMITS;

const condition = closedShape({
  field: z.string().meta({ description: `${RULE_FIELDS.join(', ')}, or header:<Name>` }),
  operator: z.enum(RULE_OPERATORS).meta({
    description:
      'Text comparison ignores case. `matches` takes a regular expression in RE2 syntax and examines the first 65 536 characters.',
  }),
  value: fewMembers(MAX_LIST, RuleConditionValue).nullish(),
  negate: z.boolean().default(false),
})
  .transform((given, context) => {
    const refuse = (path: string, message: string) => {
      context.addIssue({ code: 'custom', path: [path], message });
      return z.NEVER;
    };
    const { field, operator, negate } = given;
    const shape = fieldShapeOf(field);
    if (shape === null) {
      return refuse('field', `must be one of ${RULE_FIELDS.join(', ')}, or header:<Name>.`);
    }
    if (!operatorsOf(shape).includes(operator)) {
      return refuse(
        'operator',
        `${operator} does not fit ${field}: use one of ${operatorsOf(shape).join(', ')}.`,
      );
    }
    const parsed = valueOf(operator, shape).safeParse(given.value ?? undefined);
    if (!parsed.success) {
      for (const { path, message } of parsed.error.issues) {
        context.addIssue({ code: 'custom', path: ['value', ...path], message });
      }
      return z.NEVER;
    }
    const header = headerNameOf(field);
    return {
      field: header === null ? field : `header:${header}`,
      operator,
      value: parsed.data,
      negate,
    };
  })
  .meta({ id: 'RuleCondition' });

/** Every schema has its own sentences, which are reported for the condition's value. */
function valueOf(
  operator: RuleOperator,
  shape: RuleFieldShape,
): z.ZodType<z.output<typeof RuleConditionValue>> {
  if (operator === 'exists') {
    return z.boolean('must be true or false with the operator exists, or left out.').default(true);
  }
  if (operator !== 'in') return valueShapeOf(shape);
  const sentence = `must be a list of 1 to ${MAX_LIST} values with the operator in.`;
  const value = valueShapeOf(shape) as z.ZodType<string | number>;
  return z.array(value, sentence).min(1, sentence).max(MAX_LIST, sentence);
}

const labels = z
  .array(labelShape, `must be a list of 1 to ${MAX_LABELS} labels.`)
  .min(1)
  .max(MAX_LABELS)
  .overwrite((names) => [...new Set(names)]);

const recipients = z
  .union([z.string(), z.array(z.string()).min(1).max(MAX_FORWARD_RECIPIENTS)], {
    error: `must be an address or a list of 1 to ${MAX_FORWARD_RECIPIENTS} addresses.`,
  })
  .transform((to) => (typeof to === 'string' ? [to] : to));

const variables = fewMembers(MAX_VARIABLES, z.record(z.string(), z.unknown())).refine(
  (values) => fitsJson(values, MAX_VARIABLES_BYTES),
  `must have at most ${MAX_VARIABLES_BYTES} bytes.`,
);

type Snooze = { type: 'snooze'; minutes: number } | { type: 'snooze'; until: string };

/** Unknown members are refused: silently dropped, they would change the action. */
const action = z
  .discriminatedUnion(
    'type',
    [
      closedShape({ type: z.literal(['add_labels', 'remove_labels']), labels }),
      closedShape({
        type: z.literal('assign'),
        user_id: idShape,
        user_name: z.string().max(256).default(''),
      }),
      closedShape({ type: z.literal('set_department'), department_id: idShape.nullable() }),
      // Snoozing has its own action, and closing is automatic.
      closedShape({
        type: z.literal('set_status'),
        status: z.enum(['open', 'pending', 'waiting', 'resolved']),
      }),
      closedShape({ type: z.literal('set_priority'), priority: z.enum(PRIORITIES) }),
      closedShape({ type: z.literal('set_disposition'), disposition: z.enum(DISPOSITIONS) }),
      closedShape({
        type: z.literal('snooze'),
        minutes: z.int().min(1).max(MAX_SNOOZE_MINUTES).nullish(),
        until: utcTime.nullish(),
      }).transform(({ type, minutes, until }, context): Snooze => {
        if (typeof minutes === 'number' && typeof until !== 'string') return { type, minutes };
        if (typeof until === 'string' && typeof minutes !== 'number') return { type, until };
        context.addIssue({ code: 'custom', message: 'must have either minutes or until.' });
        return z.NEVER;
      }),
      closedShape({ type: z.literal('forward'), to: recipients }),
      closedShape({
        type: z.literal('reply_with_template'),
        template_id: idShape,
        template_version: z
          .int()
          .min(1)
          .max(MAX_VERSION)
          .nullish()
          .transform((version) => version ?? undefined)
          .meta({ description: 'Absent: the newest version when the rule is saved.' }),
        variables: variables.nullish().transform((values) => values ?? {}),
      }),
      closedShape({ type: z.literal('notify_webhook'), webhook_id: idShape }),
    ],
    {
      error: ({ code }) =>
        code === 'invalid_union' ? `must be one of ${RULE_ACTION_TYPES.join(', ')}.` : undefined,
    },
  )
  .meta({ id: 'RuleAction', examples: [{ type: 'add_labels', labels: ['billing'] }] });

const definition = z.object({
  name: lineShape(200),
  kind: z.enum(RULE_KINDS),
  enabled: z.boolean(),
  priority: z
    .int()
    .min(-MAX_PRIORITY)
    .max(MAX_PRIORITY)
    .meta({ description: 'Lower numbers run first.' }),
  mailbox_ids: idListShape(MAX_MAILBOXES).meta({
    description: 'Empty = all, which only an admin may choose.',
  }),
  match: z.enum(RULE_MATCHES),
  conditions: z
    .array(condition)
    .max(MAX_CONDITIONS)
    .refine(
      (conditions) => Buffer.byteLength(JSON.stringify(conditions)) <= MAX_CONDITIONS_BYTES,
      `must have at most ${MAX_CONDITIONS_BYTES} bytes altogether.`,
    )
    .meta({ description: 'None = every mail.' }),
  actions: z.array(action).min(1).max(MAX_ACTIONS),
  stop: z.boolean().meta({ description: 'After a match, no later rule runs.' }),
});

const { kind, enabled, priority, mailbox_ids, match, conditions, stop } = definition.shape;

export const CreateRule = definition
  .extend({
    kind: kind.default('automation'),
    enabled: enabled.default(true),
    priority: priority.default(0),
    mailbox_ids: mailbox_ids.default([]),
    match: match.default('all'),
    conditions: conditions.default([]),
    stop: stop.default(false),
  })
  .superRefine(({ kind, actions }, context) => {
    const message = missingAction(kind, actions);
    if (message !== null) context.addIssue({ code: 'custom', path: ['actions'], message });
  })
  .meta({
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
export const UpdateRule = definition.partial().meta({ id: 'UpdateRule' });

/** The actions of which a rule of a kind has at least one; `automation` is for everything else. */
const ACTIONS_OF_KIND: Readonly<Record<RuleKind, readonly RuleActionType[] | null>> = {
  routing: [
    'assign',
    'set_department',
    'set_status',
    'set_priority',
    'set_disposition',
    'snooze',
    'forward',
  ],
  forwarding: ['forward'],
  labeling: ['add_labels', 'remove_labels'],
  department: ['set_department'],
  automation: null,
};

/** Why `actions` do not fit the kind; null when they do. */
export function missingAction(
  kind: RuleKind,
  actions: readonly { readonly type: RuleActionType }[],
): string | null {
  const needed = ACTIONS_OF_KIND[kind];
  if (needed === null || actions.some(({ type }) => needed.includes(type))) return null;
  return needed.length === 1
    ? `must have ${needed[0]} in a rule of the kind ${kind}: add it, or choose the kind automation.`
    : `must have one of ${needed.join(', ')} in a rule of the kind ${kind}: add one, or choose the kind automation.`;
}

const subject = { rule: CreateRule.optional(), rule_id: z.uuid().optional() };
const isOneSubject = (body: { rule?: unknown; rule_id?: unknown }) =>
  (body.rule === undefined) !== (body.rule_id === undefined);
const ONE_SUBJECT =
  'Send either rule or rule_id: one that is not stored, or the id of one that is.';

export const TestRule = z
  .object({ ...subject, message_id: z.uuid() })
  .refine(isOneSubject, ONE_SUBJECT)
  .meta({ id: 'TestRule' });

const time = timeShape.optional();

export const StartRuleDryRun = z
  .object({
    ...subject,
    from: time.meta({ description: 'On received_at; 30 days before `to` when left out.' }),
    to: time.meta({ description: 'Now when left out.' }),
  })
  .refine(isOneSubject, ONE_SUBJECT)
  .meta({ id: 'StartRuleDryRun' });

export type CreateRule = z.output<typeof CreateRule>;
export type UpdateRule = z.output<typeof UpdateRule>;
export type RuleAction = z.output<typeof action>;
export type RuleCondition = z.output<typeof condition>;
