import type { Database } from '@dak/platform/postgres';
import type { PreparedStatement } from '@dak/platform/postgres';
import type { EndpointInterest } from './match-endpoints';

/** An endpoint that may get events, with what its lane has to agree with. */
export interface InterestedEndpoint extends EndpointInterest {
  organizationId: string;
  ownerDepartmentIds: readonly string[];
  ordering: 'none' | 'conversation';
  /** Of the owner's choice; otherwise events are kept for a later replay without being sent. */
  isActive: boolean;
  /** Changes with everything that an attempt depends on, see `lane-store.ts`. */
  stamp: string;
}

/** An event that at least one endpoint gets. */
export interface NewMessage {
  organizationId: string;
  eventId: string;
  type: string;
  mailboxId: string | null;
  departmentId: string | null;
  conversationId: string | null;
  sequence: number;
  /** Only for who may send in the conversation. */
  needsSend: boolean;
  body: Buffer;
  /** RFC 3339. */
  occurredAt: string;
  /** W3C trace context of the event. */
  traceparent: string | null;
}

export interface NewDelivery {
  organizationId: string;
  endpointId: string;
  id: string;
  eventId: string;
  eventType: string;
  trigger: 'automatic' | 'replay' | 'retry' | 'test';
  replayId: string | null;
  state: 'pending' | 'canceled';
  orderKey: string | null;
  orderSeq: number;
  errorCode: string | null;
}

/** The latest secret in force belongs to the stamp: whoever signs must know of a rotation at once. */
export const STAMP = `e.version || ':' || coalesce((
         select s.id::text from secret s
          where s.organization_id = e.organization_id and (s.endpoint_id = e.id or s.endpoint_id is null)
          order by s.id desc limit 1), '')`;

/** Owners who left and organizations that are suspended get nothing. */
const INTERESTED = `
  select e.organization_id, e.id, e.owner_user_id, p.role, p.department_ids, e.event_types, e.mailbox_ids,
         e.ordering, e.status, e.maker_scopes, e.created_at, ${STAMP} as stamp
    from endpoint e
    join person p on p.organization_id = e.organization_id and p.user_id = e.owner_user_id and p.active
    left join organization o on o.organization_id = e.organization_id
   where e.organization_id = any($1::uuid[])
     and e.enabled
     and coalesce(o.status, 'active') = 'active'`;

interface InterestedRow {
  organization_id: string;
  id: string;
  owner_user_id: string;
  role: string;
  department_ids: string[];
  event_types: string[];
  mailbox_ids: string[];
  ordering: 'none' | 'conversation';
  status: string;
  maker_scopes: string[] | null;
  created_at: string;
  stamp: string;
}

/** Of these organizations, as of now. */
export async function selectInterested(
  database: Database,
  organizationIds: readonly string[],
): Promise<Map<string, InterestedEndpoint[]>> {
  const [rows] = await database.batchAsWorker([
    { name: 'webhook_interested', text: INTERESTED, values: [organizationIds] },
  ]);
  const endpoints = (rows as unknown as InterestedRow[]).map((row): InterestedEndpoint => ({
    organizationId: row.organization_id,
    endpointId: row.id,
    ownerUserId: row.owner_user_id,
    ownerIsAdmin: row.role !== 'user',
    ownerDepartmentIds: row.department_ids,
    eventTypes: row.event_types,
    mailboxIds: row.mailbox_ids,
    makerScopes: row.maker_scopes,
    createdAt: Date.parse(row.created_at),
    ordering: row.ordering,
    isActive: row.status === 'active',
    stamp: row.stamp,
  }));
  return Map.groupBy(endpoints, ({ organizationId }) => organizationId);
}

const INSERT_MESSAGES = `
  insert into message (organization_id, event_id, type, mailbox_id, department_id, conversation_id, sequence, body,
                       occurred_at, needs_send, traceparent, created_at)
  select m.organization_id, m.event_id, m.type, m.mailbox_id, m.department_id, m.conversation_id, m.sequence,
         convert_to(m.body, 'UTF8'), m.occurred_at, m.needs_send, m.traceparent, now()
    from unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::uuid[], $6::uuid[], $7::bigint[], $8::text[],
                $9::timestamptz[], $10::boolean[], $11::text[])
         as m (organization_id, event_id, type, mailbox_id, department_id, conversation_id, sequence, body,
               occurred_at, needs_send, traceparent)
      on conflict do nothing`;

const INSERT_DELIVERIES = `
  insert into delivery (organization_id, endpoint_id, id, event_id, event_type, trigger, replay_id, state, next_at,
                        order_key, order_seq, error_code, created_at, finished_at)
  select d.organization_id, d.endpoint_id, d.id, d.event_id, d.event_type, d.trigger, d.replay_id,
         case when e.status = 'active' then d.state else 'canceled' end, now(), d.order_key, d.order_seq,
         case when e.status = 'active' then d.error_code else 'endpoint_disabled' end, now(),
         case when d.state <> 'pending' or e.status <> 'active' then now() end
    from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::uuid[], $8::text[],
                $9::text[], $10::bigint[], $11::text[])
         as d (organization_id, endpoint_id, id, event_id, event_type, trigger, replay_id, state, order_key,
               order_seq, error_code)
    join endpoint e on e.organization_id = d.organization_id and e.id = d.endpoint_id
      on conflict do nothing
  returning id, state`;

export function insertMessages(messages: readonly NewMessage[]): PreparedStatement {
  return {
    name: 'webhook_insert_messages',
    text: INSERT_MESSAGES,
    values: [
      messages.map((message) => message.organizationId),
      messages.map((message) => message.eventId),
      messages.map((message) => message.type),
      messages.map((message) => message.mailboxId),
      messages.map((message) => message.departmentId),
      messages.map((message) => message.conversationId),
      messages.map((message) => message.sequence),
      messages.map((message) => message.body.toString('utf8')),
      messages.map((message) => message.occurredAt),
      messages.map((message) => message.needsSend),
      messages.map((message) => message.traceparent),
    ],
  };
}

/**
 * What is there already stays as it is; the rows are the ids that are new, with their states: canceled
 * where the endpoint has been disabled since it was read, none where it has been deleted.
 */
export function insertDeliveries(deliveries: readonly NewDelivery[]): PreparedStatement {
  return {
    name: 'webhook_insert_deliveries',
    text: INSERT_DELIVERIES,
    values: [
      deliveries.map((delivery) => delivery.organizationId),
      deliveries.map((delivery) => delivery.endpointId),
      deliveries.map((delivery) => delivery.id),
      deliveries.map((delivery) => delivery.eventId),
      deliveries.map((delivery) => delivery.eventType),
      deliveries.map((delivery) => delivery.trigger),
      deliveries.map((delivery) => delivery.replayId),
      deliveries.map((delivery) => delivery.state),
      deliveries.map((delivery) => delivery.orderKey),
      deliveries.map((delivery) => delivery.orderSeq),
      deliveries.map((delivery) => delivery.errorCode),
    ],
  };
}
