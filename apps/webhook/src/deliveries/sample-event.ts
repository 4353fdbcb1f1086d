import type { z } from 'zod';
import type { EVENT_DATA } from '@dak/contracts/api';
import type { EventKind, PublicEvent } from '@dak/contracts/events';

const NOBODY = '00000000-0000-7000-8000-000000000000';
const ADA = { email: 'ada@customer.example', name: 'Ada Lovelace' };
const DESK = { email: 'support@company.example', name: 'Support' };
const REFUSAL = '550 5.1.1 No such user';

const place = {
  mailbox_id: NOBODY,
  department_id: null,
  conversation_id: NOBODY,
  message_id: NOBODY,
  actor: { type: 'system' as const, id: null, name: 'Test' },
};

type Samples = { [K in EventKind]: z.input<(typeof EVENT_DATA)[K]> };

function samples(at: string): Samples {
  return {
    'mail.received': {
      ...place,
      subject: 'Test of a webhook',
      from: ADA,
      to: [DESK],
      cc: [],
      message_id_header: 'test@customer.example',
      kind: 'human',
      attachment_count: 0,
      size_bytes: 1_024,
      received_at: at,
      new_conversation: true,
      conversation_status: 'open',
      imported: false,
      preview: 'This event is a sample: nothing was received.',
      authentication: { spf: 'pass', dkim: 'pass', dmarc: 'pass' },
    },
    'mail.sent': {
      ...place,
      delivery_id: NOBODY,
      subject: 'Test of a webhook',
      recipient: ADA.email,
      message_id_header: 'test@company.example',
      smtp_code: 250,
      smtp_reply: '250 2.0.0 Ok',
      attempts: 1,
      transport: 'direct',
      automatic: false,
      submitted_at: at,
    },
    'mail.failed': {
      ...place,
      delivery_id: NOBODY,
      subject: 'Test of a webhook',
      recipient: ADA.email,
      message_id_header: 'test@company.example',
      smtp_code: 550,
      diagnostic: REFUSAL,
      attempts: 1,
      reason: 'refused',
    },
    'conversation.updated': {
      ...place,
      reason: 'status_changed',
      changes: { status: { before: 'open', after: 'resolved' } },
    },
    'agent.action': {
      ...place,
      run_id: NOBODY,
      tool: 'draft_reply',
      outcome: 'proposed',
      summary: 'A sample of what an agent proposes.',
      approval_id: null,
    },
    'rule.matched': {
      ...place,
      rule_id: NOBODY,
      rule_name: 'Sample rule',
      rule_version: 1,
      rule_kind: 'labeling',
      run_id: NOBODY,
      actions: [{ type: 'add_labels', outcome: 'done', error: null }],
    },
    'bounce.received': {
      ...place,
      recipient: ADA.email,
      action: 'failed',
      status: '5.1.1',
      smtp_code: 550,
      hard: true,
      reason: REFUSAL,
      bounced_message_id: NOBODY,
      delivery_id: NOBODY,
    },
    'complaint.received': {
      ...place,
      feedback_type: 'abuse',
      recipients: [ADA.email],
      complained_message_id: NOBODY,
    },
    'domain.verified': {
      ...place,
      mailbox_id: null,
      conversation_id: null,
      message_id: null,
      domain_id: NOBODY,
      domain: 'company.example',
      records: ['spf', 'dkim', 'dmarc'],
    },
  };
}

/** What an event of a kind looks like, about nobody; `data.test` says so. */
export function sampleEvent(
  kind: EventKind,
  organizationId: string,
  eventId: string,
  at: Date,
): PublicEvent {
  const timestamp = at.toISOString();
  return {
    id: eventId,
    type: kind,
    timestamp,
    api_version: 'v1',
    organization_id: organizationId,
    sequence: 0,
    data: { ...samples(timestamp)[kind], test: true },
  };
}
