/** Topic and number of partitions. Partition counts never change in place: order per key would break. */
export const TOPICS = {
  'mail.events.v1': 12,
  'rule.events.v1': 12,
  'agent.events.v1': 6,
  'tenant.events.v1': 6,
} as const;
export type Topic = keyof typeof TOPICS;

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

export function topicOf(kind: EventKind): Topic {
  return TOPIC_OF_KIND[kind];
}
