import { rowParameters } from '@dak/platform/postgres';

/** An event as stored for its deliveries. */
export interface MessageRow {
  organization_id: string;
  event_id: string;
  type: string;
  mailbox_id: string | null;
  department_id: string | null;
  conversation_id: string | null;
  sequence: number;
  /** The octets of every request. */
  body: Buffer;
  /** RFC 3339. */
  occurred_at: string;
  /** Only for those who may send in the conversation; null = no. */
  needs_send: boolean | null;
  /** W3C trace context of the event. */
  traceparent: string | null;
}

/** The body goes as text, half the size of what a `bytea[]` parameter takes. */
export const NEW_MESSAGES = rowParameters<Omit<MessageRow, 'body'> & { body: string }>({
  organization_id: 'uuid',
  event_id: 'text',
  type: 'text',
  mailbox_id: 'uuid',
  department_id: 'uuid',
  conversation_id: 'uuid',
  sequence: 'bigint',
  body: 'text',
  occurred_at: 'timestamptz',
  needs_send: 'boolean',
  traceparent: 'text',
});
