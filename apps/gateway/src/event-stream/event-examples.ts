import type { z } from 'zod';
import type { EVENT_DATA } from '@dak/contracts/api';
import { EVENT_KINDS, type EventKind, type PublicEvent } from '@dak/contracts/events';

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

type Data = { [K in EventKind]: z.input<(typeof EVENT_DATA)[K]> };

const DATA: Data = {
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
    received_at: '2027-01-31T09:00:00.000Z',
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
    submitted_at: '2027-01-31T09:04:00.000Z',
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

/** One of each kind, as it is delivered. */
export const EVENT_EXAMPLES = Object.fromEntries(
  EVENT_KINDS.map((type) => [type, example(type)]),
) as Readonly<Record<EventKind, PublicEvent>>;

function example(type: EventKind): PublicEvent {
  return {
    id: 'evt_0199c2a4-6d3e-7c11-9a55-2f60b1d0a00b',
    type,
    timestamp: '2027-01-31T09:00:00.000Z',
    api_version: 'v1',
    organization_id: '0199c2a4-6d3e-7c11-9a55-2f60b1d0a00c',
    sequence: 1,
    data: DATA[type],
  };
}
