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

interface Codec<Message> {
  encode(message: Message): { finish(): Uint8Array };
  decode(bytes: Uint8Array): Message;
}

/** The message that carries the data of a kind, and how it is shown. */
interface Kind<Message, Shown> {
  readonly schema: string;
  readonly encode: (message: Message) => Uint8Array;
  readonly render: (bytes: Uint8Array) => Shown;
}

function define<Message, Shown>(
  name: string,
  codec: Codec<Message>,
  render: (data: Message) => Shown,
): Kind<Message, Shown> {
  return {
    schema: `dak.events.v1.${name}`,
    encode: (message) => codec.encode(message).finish(),
    render: (bytes) => render(codec.decode(bytes)),
  };
}

/** Null for a kind that this version does not know. */
export function publicEvent(event: EventEnvelope): PublicEvent | null {
  if (!Object.hasOwn(KINDS, event.type)) return null;
  const kind = event.type as EventKind;
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
      ...KINDS[kind].render(event.data),
    },
  };
}

/** Whether an event reveals a blind copy, so that it is only for callers who may send in its conversation. */
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

const KINDS = {
  'mail.received': define('MailReceived', MailReceived, (data) => ({
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
  })),
  'mail.sent': define('MailSent', MailSent, (data) => ({
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
  })),
  'mail.failed': define('MailFailed', MailFailed, (data) => ({
    delivery_id: data.deliveryId,
    subject: data.subject,
    recipient: data.recipient,
    message_id_header: data.messageIdHeader ?? null,
    smtp_code: data.smtpCode ?? null,
    diagnostic: data.diagnostic,
    attempts: data.attempts,
    reason: data.reason === '' ? 'refused' : data.reason,
  })),
  'conversation.updated': define('ConversationUpdated', ConversationUpdated, (data) => ({
    reason: data.reason,
    changes: Object.fromEntries(
      data.changes.map(({ field, beforeJson, afterJson }) => [
        field,
        { before: JSON.parse(beforeJson) as unknown, after: JSON.parse(afterJson) as unknown },
      ]),
    ),
  })),
  'agent.action': define('AgentAction', AgentAction, (data) => ({
    run_id: data.runId,
    tool: data.tool,
    outcome: data.outcome as KindData<'agent.action'>['outcome'],
    summary: data.summary,
    approval_id: data.approvalId ?? null,
  })),
  'rule.matched': define('RuleMatched', RuleMatched, (data) => ({
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
  })),
  'bounce.received': define('BounceReceived', BounceReceived, (data) => ({
    recipient: data.recipient,
    action: data.action,
    status: data.status,
    smtp_code: data.smtpCode ?? null,
    hard: data.hard,
    reason: data.reason,
    bounced_message_id: data.bouncedMessageId ?? null,
    delivery_id: data.deliveryId ?? null,
  })),
  'complaint.received': define('ComplaintReceived', ComplaintReceived, (data) => ({
    feedback_type: data.feedbackType,
    recipients: data.recipients,
    complained_message_id: data.complainedMessageId ?? null,
  })),
  'domain.verified': define('DomainVerified', DomainVerified, (data) => ({
    domain_id: data.domainId,
    domain: data.domain,
    records: data.records,
  })),
} satisfies { [K in EventKind]: Kind<never, KindData<K>> };

/** What the service that emits a kind says about it. */
export type EventMessage<K extends EventKind> =
  (typeof KINDS)[K] extends Kind<infer Message, unknown> ? Message : never;

/** The data of an event as its envelope carries them. */
export function encodeEventData<K extends EventKind>(
  kind: K,
  message: EventMessage<K>,
): Pick<EventEnvelope, 'dataSchema' | 'data'> {
  const { schema, encode } = KINDS[kind] as unknown as Kind<EventMessage<K>, unknown>;
  const bytes = encode(message);
  return {
    dataSchema: schema,
    data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  };
}

function address({ email, name }: EventAddress): { email: string; name: string } {
  return { email, name };
}
