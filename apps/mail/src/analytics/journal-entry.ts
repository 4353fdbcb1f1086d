import {
  AgentAction,
  BounceReceived,
  ComplaintReceived,
  ConversationUpdated,
  MailFailed,
  MailReceived,
  MailSent,
  RuleMatched,
  type EventEnvelope,
} from '@dak/contracts/events';
import { InvalidError, isUuid } from '@dak/kernel';

/** What analytics keeps of one event. Times are RFC 3339 UTC with milliseconds. */
export interface JournalEntry {
  readonly organizationId: string;
  /** The UUID of the event id. */
  readonly eventId: string;
  readonly occurredAt: string;
  readonly mailboxId: string | null;
  readonly departmentId: string | null;
  readonly conversationId: string | null;
  readonly messageId: string | null;
  readonly actor: { readonly type: string; readonly id: string; readonly name: string };
  readonly content: EntryContent;
}

/** The facts by kind of event; stored as they are, so fields may be added and never change their meaning. */
export type EntryContent =
  | { readonly kind: 'mail.received'; readonly facts: ReceivedFacts }
  | { readonly kind: 'mail.sent'; readonly facts: { automatic: boolean; attempts: number } }
  | { readonly kind: 'mail.failed'; readonly facts: { reason: string; attempts: number } }
  | { readonly kind: 'conversation.updated'; readonly facts: ChangeFacts }
  | {
      readonly kind: 'bounce.received';
      readonly facts: { action: string; hard: boolean; reason: string };
    }
  | { readonly kind: 'complaint.received'; readonly facts: { type: string } }
  | { readonly kind: 'agent.action'; readonly facts: { outcome: string } }
  | { readonly kind: 'rule.matched'; readonly facts: { rule_kind: string } };

export interface ReceivedFacts {
  readonly received_at: string;
  /** As in the event: human, auto_reply, list, dsn, arf or mdn. */
  readonly kind: string;
  readonly new: boolean;
  readonly imported: boolean;
  /** State of the conversation after the message joined it. */
  readonly status: string;
  /** SPF, DKIM and DMARC verdict between slashes; null when none was evaluated. */
  readonly authentication: string | null;
}

/** Fields are there when they changed, with the value after. */
export interface ChangeFacts {
  readonly reason: string;
  /** The conversation came into being with this change. */
  readonly created?: true;
  readonly status?: string;
  readonly disposition?: string;
  readonly department_id?: string | null;
  readonly assignee?: { readonly type: string; readonly id: string; readonly name: string } | null;
  readonly merged_into_id?: string | null;
  /** Only of merges and splits, where it stands for mail that came elsewhere. */
  readonly waiting_since?: string | null;
}

const COUNTED_FIELDS = [
  'status',
  'disposition',
  'department_id',
  'assignee',
  'merged_into_id',
] as const;

/**
 * Null when nothing of the event is counted.
 * @throws InvalidError when the event cannot be read, which parks its key
 */
export function journalEntry(event: EventEnvelope): JournalEntry | null {
  const content = readable(event);
  if (content === null) return null;
  const eventId = event.id.slice(event.id.indexOf('_') + 1);
  const ids = [event.mailboxId, event.departmentId, event.conversationId, event.messageId];
  for (const id of [eventId, event.organizationId, ...ids]) {
    if (id !== undefined && !isUuid(id)) throw notAnId(event.id, id);
  }
  return {
    organizationId: event.organizationId,
    eventId,
    occurredAt: timeOf(event),
    mailboxId: event.mailboxId ?? null,
    departmentId: event.departmentId ?? null,
    conversationId: event.conversationId ?? null,
    messageId: event.messageId ?? null,
    actor: {
      type: event.actor?.type ?? 'system',
      id: event.actor?.id ?? '',
      name: event.actor?.type === 'external' ? '' : (event.actor?.name ?? ''),
    },
    content,
  };
}

function readable(event: EventEnvelope): EntryContent | null {
  try {
    return contentOf(event);
  } catch {
    throw new InvalidError(`The data of ${event.id} are not ${event.type}.`, 'bad_event');
  }
}

function notAnId(eventId: string, id: string): InvalidError {
  return new InvalidError(`The event ${eventId} names ${id}, which is no UUID.`, 'bad_event');
}

/** When the event happened, in milliseconds as the journal keeps it. */
export function timeOf(event: Pick<EventEnvelope, 'occurredAt'>): string {
  return (event.occurredAt ?? new Date(0)).toISOString();
}

function contentOf(event: EventEnvelope): EntryContent | null {
  const { type: kind, data } = event;
  switch (kind) {
    case 'mail.received':
      return { kind, facts: receivedFacts(MailReceived.decode(data), timeOf(event)) };
    case 'mail.sent': {
      const { automatic, attempts } = MailSent.decode(data);
      return { kind, facts: { automatic, attempts } };
    }
    case 'mail.failed': {
      const { reason, attempts } = MailFailed.decode(data);
      return { kind, facts: { reason: reason || 'refused', attempts } };
    }
    case 'conversation.updated': {
      const facts = changeFacts(ConversationUpdated.decode(data));
      return facts === null ? null : { kind, facts };
    }
    case 'bounce.received': {
      const { action, hard, reason } = BounceReceived.decode(data);
      return { kind, facts: { action, hard, reason } };
    }
    case 'complaint.received':
      return { kind, facts: { type: ComplaintReceived.decode(data).feedbackType } };
    case 'agent.action':
      return { kind, facts: { outcome: AgentAction.decode(data).outcome } };
    case 'rule.matched':
      return { kind, facts: { rule_kind: RuleMatched.decode(data).ruleKind } };
    default:
      return null;
  }
}

function receivedFacts(data: MailReceived, occurredAt: string): ReceivedFacts {
  const verdicts = [data.spf, data.dkim, data.dmarc];
  return {
    received_at: data.receivedAt?.toISOString() ?? occurredAt,
    kind: data.kind,
    new: data.newConversation,
    imported: data.imported,
    status: data.conversationStatus,
    authentication: verdicts.every((verdict) => verdict === undefined)
      ? null
      : verdicts.map((verdict) => verdict ?? '').join('/'),
  };
}

function changeFacts({ reason, changes }: ConversationUpdated): ChangeFacts | null {
  const byField = new Map(changes.map((change) => [change.field, change]));
  const facts: Record<string, unknown> = {};
  for (const field of COUNTED_FIELDS) {
    const change = byField.get(field);
    if (change !== undefined) facts[field] = JSON.parse(change.afterJson) as unknown;
  }
  if (byField.get('mailbox_id')?.beforeJson === 'null') facts['created'] = true;
  const waiting = byField.get('waiting_since');
  const isMoved = reason === 'merged' || reason === 'split';
  if (isMoved && waiting !== undefined) {
    facts['waiting_since'] = JSON.parse(waiting.afterJson) as unknown;
  }
  return Object.keys(facts).length === 0 ? null : { reason, ...facts };
}
