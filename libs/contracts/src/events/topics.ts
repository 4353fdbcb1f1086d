/** Topics that carry the event kinds of the API, with their number of partitions. */
const PUBLIC = {
  'mail.events.v1': 12,
  'rule.events.v1': 12,
  'agent.events.v1': 6,
  'tenant.events.v1': 6,
} as const;

/** Topic and number of partitions. Partition counts never change in place: order per key would break. */
export const TOPICS = {
  ...PUBLIC,
  /** Internal: services' notes for the audit log. */
  'audit.events.v1': 6,
} as const;
export type Topic = keyof typeof TOPICS;

/** What webhooks, event streams and analytics read. */
export const PUBLIC_TOPICS = Object.keys(PUBLIC) as (keyof typeof PUBLIC)[];

const TOPIC_OF_KIND = {
  'mail.received': 'mail.events.v1',
  'mail.sent': 'mail.events.v1',
  'mail.failed': 'mail.events.v1',
  'conversation.updated': 'mail.events.v1',
  'bounce.received': 'mail.events.v1',
  'complaint.received': 'mail.events.v1',
  'rule.matched': 'rule.events.v1',
  'agent.action': 'agent.events.v1',
  'domain.verified': 'tenant.events.v1',
} as const satisfies Record<string, Topic>;

/** The nine event kinds of the specification, §6. */
export type EventKind = keyof typeof TOPIC_OF_KIND;
export const EVENT_KINDS = Object.keys(TOPIC_OF_KIND) as EventKind[];

/** Kinds that stay between services. */
export const AUDIT_NOTED = 'audit.noted';

export function topicOf(kind: EventKind | typeof AUDIT_NOTED): Topic {
  return kind === AUDIT_NOTED ? 'audit.events.v1' : TOPIC_OF_KIND[kind];
}
