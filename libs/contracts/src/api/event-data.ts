import { z } from 'zod';
import { AddressRecord } from './record-shapes';

/**
 * `data` of every event kind as webhooks and the event stream carry it. Thin: ids, addresses, subject
 * and outcome; bodies are fetched through the API, where access is checked and audited.
 */
const place = {
  mailbox_id: z.uuid().nullable(),
  department_id: z.uuid().nullable(),
  conversation_id: z.uuid().nullable(),
  message_id: z.uuid().nullable(),
  actor: z.object({
    type: z.enum(['user', 'api_key', 'agent', 'rule', 'system', 'external']),
    id: z.string().nullable(),
    name: z.string(),
  }),
  truncated: z
    .literal(true)
    .optional()
    .describe(
      'Long texts or lists were shortened to keep the event below 20 KiB; the API returns them in full',
    ),
};
const smtpCode = z.int().nullable().describe('Reply code of RFC 5321; null if no server replied');
const messageIdHeader = z.string().nullable().describe('Message-ID without angle brackets');
const verdict = z.string().nullable().describe('Result of RFC 8601; null when not evaluated');

export const MailReceivedData = z
  .object({
    ...place,
    subject: z.string(),
    from: AddressRecord.nullable(),
    to: z.array(AddressRecord),
    cc: z.array(AddressRecord),
    message_id_header: messageIdHeader,
    kind: z.enum(['human', 'auto_reply', 'list', 'dsn', 'arf', 'mdn']),
    attachment_count: z.int(),
    size_bytes: z.int(),
    received_at: z.iso.datetime(),
    new_conversation: z.boolean(),
    conversation_status: z.string(),
    imported: z.boolean(),
    preview: z.string(),
    authentication: z.object({ spf: verdict, dkim: verdict, dmarc: verdict }),
  })
  .describe('A message has been stored in a mailbox');

export const MailSentData = z
  .object({
    ...place,
    delivery_id: z.string(),
    subject: z.string(),
    recipient: z.string(),
    message_id_header: messageIdHeader,
    smtp_code: smtpCode,
    smtp_reply: z.string(),
    attempts: z.int(),
    transport: z.string(),
    automatic: z.boolean(),
    submitted_at: z.iso.datetime().nullable(),
  })
  .describe('The next hop has accepted a message for one recipient');

export const MailFailedData = z
  .object({
    ...place,
    delivery_id: z.string(),
    subject: z.string(),
    recipient: z.string(),
    message_id_header: messageIdHeader,
    smtp_code: smtpCode,
    diagnostic: z.string(),
    attempts: z.int(),
    reason: z.string().describe('refused, expired, suppressed or bounced'),
  })
  .describe('Delivery to one recipient failed permanently');

export const ConversationUpdatedData = z
  .object({
    ...place,
    reason: z.string(),
    changes: z
      .record(z.string(), z.object({ before: z.unknown(), after: z.unknown() }))
      .describe('By field name, as in the conversation record'),
  })
  .describe('A conversation’s visible state has changed');

export const AgentActionData = z
  .object({
    ...place,
    run_id: z.string(),
    tool: z.string(),
    outcome: z.enum(['proposed', 'executed', 'refused', 'failed']),
    summary: z.string(),
    approval_id: z.string().nullable(),
  })
  .describe('An agent proposed, executed or was refused an action');

export const RuleMatchedData = z
  .object({
    ...place,
    rule_id: z.uuid(),
    rule_name: z.string(),
    rule_version: z.int(),
    rule_kind: z.enum(['routing', 'forwarding', 'labeling', 'department', 'automation']),
    run_id: z.string(),
    actions: z.array(
      z.object({
        type: z.string(),
        outcome: z.enum(['done', 'skipped', 'failed']),
        error: z.string().nullable(),
      }),
    ),
  })
  .describe('The conditions of a rule held for a message and its actions ran');

export const BounceReceivedData = z
  .object({
    ...place,
    recipient: z.string(),
    action: z.string().describe('Action of RFC 3464: failed, delayed …'),
    status: z.string().describe('Enhanced status code of RFC 3463'),
    smtp_code: smtpCode,
    hard: z.boolean(),
    reason: z.string(),
    bounced_message_id: z.uuid().nullable(),
    delivery_id: z.string().nullable(),
  })
  .describe('A delivery status notification has arrived');

export const ComplaintReceivedData = z
  .object({
    ...place,
    feedback_type: z.string().describe('Feedback-Type of RFC 5965'),
    recipients: z.array(z.string()),
    complained_message_id: z.uuid().nullable(),
  })
  .describe('A recipient reported a message as unwanted');

export const DomainVerifiedData = z
  .object({ ...place, domain_id: z.string(), domain: z.string(), records: z.array(z.string()) })
  .describe('Every DNS record of a domain has its expected value');

/** By event kind, in the order of the specification. */
export const EVENT_DATA = {
  'mail.received': MailReceivedData,
  'mail.sent': MailSentData,
  'mail.failed': MailFailedData,
  'conversation.updated': ConversationUpdatedData,
  'agent.action': AgentActionData,
  'rule.matched': RuleMatchedData,
  'bounce.received': BounceReceivedData,
  'complaint.received': ComplaintReceivedData,
  'domain.verified': DomainVerifiedData,
} as const;

const PLACE = {
  mailbox_id: '0199c2a4-6d3e-7c11-9a55-2f60b1d0a001',
  department_id: null,
  conversation_id: '0199c2a4-6d3e-7c11-9a55-2f60b1d0a002',
  message_id: '0199c2a4-6d3e-7c11-9a55-2f60b1d0a003',
};
const NOWHERE = { mailbox_id: null, department_id: null, conversation_id: null, message_id: null };
const SYSTEM = { type: 'system', id: null, name: 'Dak' } as const;
const CUSTOMER = { type: 'external', id: null, name: 'Ada Example' } as const;
const COLLEAGUE = {
  type: 'user',
  id: '0199c2a4-6d3e-7c11-9a55-2f60b1d0a004',
  name: 'Asha Rao',
} as const;
const SUPPORT = { email: 'support@dak.example', name: 'Support' };

type Examples = { [K in keyof typeof EVENT_DATA]: z.input<(typeof EVENT_DATA)[K]> };

/** Fictional data of each kind, for documentation and webhook tests. @param at RFC 3339 */
export function eventExamples(at: string): Examples {
  return {
    'mail.received': {
      ...PLACE,
      actor: CUSTOMER,
      subject: 'Lamp',
      from: { email: 'ada@customer.example', name: 'Ada Example' },
      to: [SUPPORT],
      cc: [],
      message_id_header: 'lamp@customer.example',
      kind: 'human',
      attachment_count: 0,
      size_bytes: 1834,
      received_at: at,
      new_conversation: true,
      conversation_status: 'open',
      imported: false,
      preview: 'It is dark.',
      authentication: { spf: 'pass', dkim: 'pass', dmarc: 'pass' },
    },
    'mail.sent': {
      ...PLACE,
      actor: COLLEAGUE,
      delivery_id: '0199c2a4-6d3e-7c11-9a55-2f60b1d0a005',
      subject: 'Re: Lamp',
      recipient: 'ada@customer.example',
      message_id_header: '0199c2a4-6d3e-7c11-9a55-2f60b1d0a003@dak.example',
      smtp_code: 250,
      smtp_reply: '2.0.0 queued',
      attempts: 1,
      transport: 'direct',
      automatic: false,
      submitted_at: at,
    },
    'mail.failed': {
      ...PLACE,
      actor: COLLEAGUE,
      delivery_id: '0199c2a4-6d3e-7c11-9a55-2f60b1d0a005',
      subject: 'Re: Lamp',
      recipient: 'nobody@customer.example',
      message_id_header: '0199c2a4-6d3e-7c11-9a55-2f60b1d0a003@dak.example',
      smtp_code: 550,
      diagnostic: '5.1.1 no such user',
      attempts: 1,
      reason: 'refused',
    },
    'conversation.updated': {
      ...PLACE,
      message_id: null,
      actor: COLLEAGUE,
      reason: 'changed',
      changes: { status: { before: 'open', after: 'waiting' } },
    },
    'agent.action': {
      ...PLACE,
      actor: { type: 'agent', id: '0199c2a4-6d3e-7c11-9a55-2f60b1d0a006', name: 'Triage' },
      run_id: '0199c2a4-6d3e-7c11-9a55-2f60b1d0a006',
      tool: 'propose_reply',
      outcome: 'proposed',
      summary: 'An answer about the lamp waits for approval.',
      approval_id: '0199c2a4-6d3e-7c11-9a55-2f60b1d0a007',
    },
    'rule.matched': {
      ...PLACE,
      actor: { type: 'rule', id: '0199c2a4-6d3e-7c11-9a55-2f60b1d0a008', name: 'Lamps' },
      rule_id: '0199c2a4-6d3e-7c11-9a55-2f60b1d0a008',
      rule_name: 'Lamps',
      rule_version: 3,
      rule_kind: 'labeling',
      run_id: '0199c2a4-6d3e-7c11-9a55-2f60b1d0a009',
      actions: [{ type: 'add_labels', outcome: 'done', error: null }],
    },
    'bounce.received': {
      ...PLACE,
      actor: SYSTEM,
      recipient: 'nobody@customer.example',
      action: 'failed',
      status: '5.1.1',
      smtp_code: 550,
      hard: true,
      reason: 'no such user',
      bounced_message_id: '0199c2a4-6d3e-7c11-9a55-2f60b1d0a003',
      delivery_id: null,
    },
    'complaint.received': {
      ...PLACE,
      actor: SYSTEM,
      feedback_type: 'abuse',
      recipients: ['ada@customer.example'],
      complained_message_id: '0199c2a4-6d3e-7c11-9a55-2f60b1d0a003',
    },
    'domain.verified': {
      ...NOWHERE,
      actor: SYSTEM,
      domain_id: '0199c2a4-6d3e-7c11-9a55-2f60b1d0a00a',
      domain: 'dak.example',
      records: ['ownership'],
    },
  };
}

/** The body sent to webhook endpoints and on the event stream; `data` by kind. */
export const PublicEventRecord = z.object({
  id: z.string().describe('evt_ followed by a UUIDv7; the same for every repetition'),
  type: z.string(),
  timestamp: z.iso.datetime().describe('When it happened'),
  api_version: z.literal('v1'),
  organization_id: z.uuid(),
  sequence: z
    .int()
    .describe(
      'Numbered per conversation without gaps, so receivers can order events and detect loss',
    ),
  data: z.record(z.string(), z.unknown()),
});
