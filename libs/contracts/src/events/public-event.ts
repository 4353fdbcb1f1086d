import type { z } from 'zod';
import type { EVENT_DATA } from '../api/event-data';
import { AgentAction } from '../generated/dak/events/v1/agent_events';
import type { EventEnvelope } from '../generated/dak/events/v1/envelope';
import {
  BounceReceived,
  ComplaintReceived,
  ConversationUpdated,
  MailFailed,
  MailReceived,
  MailSent,
  type EventAddress,
} from '../generated/dak/events/v1/mail_events';
import { RuleMatched } from '../generated/dak/events/v1/rule_events';
import { DomainVerified } from '../generated/dak/events/v1/tenant_events';
import type { EventKind } from './topics';

/** An event as people outside see it: the body of a webhook and an item of the event stream. */
export interface PublicEvent {
  id: string;
  type: EventKind;
  timestamp: string;
  api_version: 'v1';
  organization_id: string;
  sequence: number;
  data: Record<string, unknown>;
}

type KindData<K extends EventKind> = Omit<
  z.input<(typeof EVENT_DATA)[K]>,
  'mailbox_id' | 'department_id' | 'conversation_id' | 'message_id' | 'actor' | 'truncated'
>;

/** Null for a kind that this version does not know. */
export function publicEvent(event: EventEnvelope): PublicEvent | null {
  const kind = event.type as EventKind;
  const render = RENDERERS[kind] as ((data: Uint8Array) => Record<string, unknown>) | undefined;
  if (render === undefined) return null;
  const { actor } = event;
  return {
    id: event.id,
    type: kind,
    timestamp: (event.occurredAt ?? new Date(0)).toISOString(),
    api_version: 'v1',
    organization_id: event.organizationId,
    sequence: event.sequence,
    data: {
      mailbox_id: event.mailboxId ?? null,
      department_id: event.departmentId ?? null,
      conversation_id: event.conversationId ?? null,
      message_id: event.messageId ?? null,
      actor: {
        type: actor?.type ?? 'system',
        id: actor?.id === undefined || actor.id === '' ? null : actor.id,
        name: actor?.name ?? '',
      },
      ...render(event.data),
    },
  };
}

/** Whether an event tells of a blind copy, so that it is only for who may send in its conversation. */
export function isOfBlindCopy({ type, data }: EventEnvelope): boolean {
  switch (type as EventKind) {
    case 'mail.sent':
      return MailSent.decode(data).blindCopy;
    case 'mail.failed':
      return MailFailed.decode(data).blindCopy;
    case 'bounce.received':
      return BounceReceived.decode(data).blindCopy;
    case 'complaint.received':
      return ComplaintReceived.decode(data).blindCopy;
    default:
      return false;
  }
}

const RENDERERS: { [K in EventKind]: (data: Uint8Array) => KindData<K> } = {
  'mail.received': (bytes) => {
    const data = MailReceived.decode(bytes);
    return {
      subject: data.subject,
      from: data.from === undefined ? null : address(data.from),
      to: data.to.map(address),
      cc: data.cc.map(address),
      message_id_header: data.messageIdHeader ?? null,
      kind: data.kind as KindData<'mail.received'>['kind'],
      attachment_count: data.attachmentCount,
      size_bytes: data.sizeBytes,
      received_at: (data.receivedAt ?? new Date(0)).toISOString(),
      new_conversation: data.newConversation,
      conversation_status: data.conversationStatus,
      imported: data.imported,
      preview: data.preview,
      authentication: {
        spf: data.spf ?? null,
        dkim: data.dkim ?? null,
        dmarc: data.dmarc ?? null,
      },
    };
  },
  'mail.sent': (bytes) => {
    const data = MailSent.decode(bytes);
    return {
      delivery_id: data.deliveryId,
      subject: data.subject,
      recipient: data.recipient,
      message_id_header: data.messageIdHeader ?? null,
      smtp_code: data.smtpCode === 0 ? null : data.smtpCode,
      smtp_reply: data.smtpReply,
      attempts: data.attempts,
      transport: data.transport,
      automatic: data.automatic,
      submitted_at: data.submittedAt?.toISOString() ?? null,
    };
  },
  'mail.failed': (bytes) => {
    const data = MailFailed.decode(bytes);
    return {
      delivery_id: data.deliveryId,
      subject: data.subject,
      recipient: data.recipient,
      message_id_header: data.messageIdHeader ?? null,
      smtp_code: data.smtpCode ?? null,
      diagnostic: data.diagnostic,
      attempts: data.attempts,
      reason: data.reason === '' ? 'refused' : data.reason,
    };
  },
  'conversation.updated': (bytes) => {
    const data = ConversationUpdated.decode(bytes);
    return {
      reason: data.reason,
      changes: Object.fromEntries(
        data.changes.map(({ field, beforeJson, afterJson }) => [
          field,
          { before: JSON.parse(beforeJson) as unknown, after: JSON.parse(afterJson) as unknown },
        ]),
      ),
    };
  },
  'agent.action': (bytes) => {
    const data = AgentAction.decode(bytes);
    return {
      run_id: data.runId,
      tool: data.tool,
      outcome: data.outcome as KindData<'agent.action'>['outcome'],
      summary: data.summary,
      approval_id: data.approvalId ?? null,
    };
  },
  'rule.matched': (bytes) => {
    const data = RuleMatched.decode(bytes);
    return {
      rule_id: data.ruleId,
      rule_name: data.ruleName,
      rule_version: data.ruleVersion,
      rule_kind: data.ruleKind as KindData<'rule.matched'>['rule_kind'],
      run_id: data.runId,
      actions: data.actions.map(({ type, outcome, error }) => ({
        type,
        outcome: outcome as 'done' | 'skipped' | 'failed',
        error: error === '' ? null : error,
      })),
    };
  },
  'bounce.received': (bytes) => {
    const data = BounceReceived.decode(bytes);
    return {
      recipient: data.recipient,
      action: data.action,
      status: data.status,
      smtp_code: data.smtpCode ?? null,
      hard: data.hard,
      reason: data.reason,
      bounced_message_id: data.bouncedMessageId ?? null,
      delivery_id: data.deliveryId ?? null,
    };
  },
  'complaint.received': (bytes) => {
    const data = ComplaintReceived.decode(bytes);
    return {
      feedback_type: data.feedbackType,
      recipients: data.recipients,
      complained_message_id: data.complainedMessageId ?? null,
    };
  },
  'domain.verified': (bytes) => {
    const data = DomainVerified.decode(bytes);
    return { domain_id: data.domainId, domain: data.domain, records: data.records };
  },
};

function address({ email, name }: EventAddress): { email: string; name: string } {
  return { email, name };
}
