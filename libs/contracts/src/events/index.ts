export * from '../generated/dak/events/v1/agent_events';
export * from '../generated/dak/events/v1/audit_events';
export * from '../generated/dak/events/v1/envelope';
export * from '../generated/dak/events/v1/mail_events';
export * from '../generated/dak/events/v1/rule_events';
export * from '../generated/dak/events/v1/tenant_events';
export { MAX_EVENT_BYTES, eventBody } from './event-body';
export { eventEnvelope, type EnvelopeFacts } from './event-envelope';
export { exampleEvent } from './example-event';
export { isOfBlindCopy, publicEvent, type EventMessage, type PublicEvent } from './public-event';
export {
  AUDIT_NOTED,
  EVENT_KINDS,
  PUBLIC_TOPICS,
  TOPICS,
  topicOf,
  type EventKind,
  type Topic,
} from './topics';
