import { z } from 'zod';
import { RULE_FIELDS, RULE_OPERATORS } from './rule-fields';

/** The public records of rules; rendered by the mail service, documented and checked by the gateway. */
const id = z.uuid();
const timestamp = z.iso.datetime().describe('RFC 3339, UTC');

export const RULE_KINDS = [
  'routing',
  'forwarding',
  'labeling',
  'department',
  'automation',
] as const;
export const RULE_MATCHES = ['all', 'any'] as const;
export const RULE_ACTION_TYPES = [
  'add_labels',
  'remove_labels',
  'assign',
  'set_department',
  'set_status',
  'set_priority',
  'snooze',
  'set_disposition',
  'forward',
  'reply_with_template',
  'notify_webhook',
] as const;

const scalar = z.union([z.string(), z.number(), z.boolean()]);
/** What a condition compares with. */
export const RuleConditionValue = z.union([scalar, z.array(z.union([z.string(), z.number()]))]);

export const RuleConditionRecord = z.object({
  field: z.string().describe(`${RULE_FIELDS.join(', ')} or header:<Name>`),
  operator: z.enum(RULE_OPERATORS),
  value: RuleConditionValue.nullable(),
  negate: z.boolean(),
});

export const RuleActionRecord = z
  .looseObject({ type: z.enum(RULE_ACTION_TYPES) })
  .describe('The type and that type’s members');

const definition = {
  name: z.string(),
  kind: z.enum(RULE_KINDS),
  enabled: z.boolean(),
  priority: z.int().describe('Lower numbers run first'),
  mailbox_ids: z.array(id).describe('Empty = all mailboxes'),
  match: z.enum(RULE_MATCHES),
  conditions: z.array(RuleConditionRecord).describe('None = every mail'),
  actions: z.array(RuleActionRecord),
  stop: z.boolean().describe('After a match, no later rule runs'),
};

export const RuleRecord = z.object({
  id,
  ...definition,
  status: z
    .enum(['active', 'disabled'])
    .describe('disabled = stopped by Dak; enabled: true resumes it'),
  disabled_reason: z
    .enum(['key_revoked'])
    .nullable()
    .describe('key_revoked = an API key that created or changed it was revoked or has expired'),
  version: z.int(),
  created_by: id.describe('The user behind it, even if one of their API keys created it'),
  created_by_name: z.string(),
  stats: z.object({
    evaluated: z.int(),
    matched: z.int(),
    last_matched_at: timestamp.nullable(),
  }),
  created_at: timestamp,
  updated_at: timestamp,
});

export const RuleVersionRecord = z.object({
  rule_id: id,
  version: z.int(),
  ...definition,
  changed_by: id,
  changed_by_name: z.string(),
  changed_at: timestamp,
});

export const RuleVerdictRecord = z.object({
  index: z.int().describe('Index of the condition in the rule, starting at 0'),
  field: z.string(),
  operator: z.enum(RULE_OPERATORS),
  negate: z.boolean(),
  expected: RuleConditionValue.nullable(),
  actual: z
    .union([scalar, z.array(scalar)])
    .nullable()
    .describe('The message’s values, each cut to 200 characters; null = none'),
  matched: z.boolean(),
});

export const RuleRunRecord = z.object({
  id,
  rule_id: id,
  rule_name: z.string(),
  rule_version: z.int(),
  mailbox_id: id,
  conversation_id: id,
  message_id: id,
  matched: z.boolean(),
  conditions: z.array(RuleVerdictRecord),
  actions: z.array(
    z.object({
      type: z.enum(RULE_ACTION_TYPES),
      outcome: z.enum(['done', 'skipped', 'failed']),
      error: z.string().nullable().describe('Why it was skipped or failed'),
    }),
  ),
  at: timestamp,
  trace_id: z.string().nullable(),
});

export const RuleTestRecord = z.object({
  matched: z.boolean(),
  applies: z.boolean().describe('Whether the rule applies to this message’s mailbox'),
  conditions: z.array(RuleVerdictRecord),
  actions: z
    .array(
      z.object({
        type: z.enum(RULE_ACTION_TYPES),
        outcome: z.enum(['planned', 'skipped', 'failed']),
        error: z.string().nullable(),
      }),
    )
    .describe('The actions that would run; empty if the rule does not match'),
});

export const RuleDryRunRecord = z.object({
  id,
  rule_id: id.nullable(),
  status: z.enum(['running', 'done', 'failed']),
  from: timestamp,
  to: timestamp,
  progress: z.object({
    examined: z.int(),
    total: z.int().nullable().describe('Null until counted'),
  }),
  examined: z.int(),
  matched: z.int().describe('Messages'),
  conversations: z.int().describe('Conversations the rule would have changed'),
  condition_hits: z.array(z.object({ index: z.int(), matched: z.int() })),
  samples: z.array(
    z.object({
      message_id: id,
      conversation_id: id,
      subject: z.string(),
      from: z.string().nullable(),
      received_at: timestamp.nullable(),
    }),
  ),
  error: z.string().nullable(),
  created_at: timestamp,
  finished_at: timestamp.nullable(),
});

export type RuleKind = (typeof RULE_KINDS)[number];
export type RuleActionType = (typeof RULE_ACTION_TYPES)[number];
export type RuleRecord = z.infer<typeof RuleRecord>;
export type RuleVersionRecord = z.infer<typeof RuleVersionRecord>;
export type RuleVerdictRecord = z.infer<typeof RuleVerdictRecord>;
export type RuleRunRecord = z.infer<typeof RuleRunRecord>;
export type RuleTestRecord = z.infer<typeof RuleTestRecord>;
export type RuleDryRunRecord = z.infer<typeof RuleDryRunRecord>;
