export * from '../generated/dak/events/v1/envelope';
export * from '../generated/dak/events/v1/mail_events';
export { EVENT_KINDS, TOPICS, topicOf, type EventKind, type Topic } from './topics';
