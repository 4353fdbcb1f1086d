import { NotFoundError, isUuid } from '@dak/kernel';
import type { WebhookDeliveryRecord } from '@dak/contracts/api';
import type { SqlExecutor } from '@dak/platform/postgres';

/** As stored; times are RFC 3339. */
export interface DeliveryRow {
  id: string;
  endpoint_id: string;
  event_id: string;
  event_type: string;
  trigger: WebhookDeliveryRecord['trigger'];
  replay_id: string | null;
  state: WebhookDeliveryRecord['state'];
  attempts: number;
  next_at: string;
  order_key: string | null;
  order_seq: number;
  gap: boolean;
  status_code: number | null;
  error_code: string | null;
  created_at: string;
  first_attempt_at: string | null;
  finished_at: string | null;
}

const COLUMNS = `d.id, d.endpoint_id, d.event_id, d.event_type, d.trigger, d.replay_id, d.state, d.attempts, d.next_at,
         d.order_key, d.order_seq, d.gap, d.status_code, d.error_code, d.created_at, d.first_attempt_at, d.finished_at`;

export interface DeliveryFilter {
  endpointId: string;
  /** Empty = all. */
  states: readonly string[];
  eventTypes: readonly string[];
  /** Bounds of ids, which sort by time: from inclusive, to exclusive. */
  from: string | null;
  to: string | null;
}

const FILTER = `d.organization_id = $1 and d.endpoint_id = $2
        and ($3::text[] = '{}' or d.state = any($3)) and ($4::text[] = '{}' or d.event_type = any($4))
        and ($5::uuid is null or d.id >= $5) and ($6::uuid is null or d.id < $6)`;

function valuesOf(organizationId: string, filter: DeliveryFilter): unknown[] {
  const { endpointId, states, eventTypes, from, to } = filter;
  return [organizationId, endpointId, states, eventTypes, from, to];
}

/** Newest first. */
export async function selectDeliveries(
  tx: SqlExecutor,
  organizationId: string,
  filter: DeliveryFilter,
  window: { before: string | null; offset: number; limit: number },
): Promise<DeliveryRow[]> {
  const { rows } = await tx.query<DeliveryRow>(
    `select ${COLUMNS} from delivery d
      where ${FILTER} and ($7::uuid is null or d.id < $7)
      order by d.id desc offset $8 limit $9`,
    [...valuesOf(organizationId, filter), window.before, window.offset, window.limit],
  );
  return rows;
}

/** Exact up to `most`, then `most` + 1. */
export async function countDeliveries(
  tx: SqlExecutor,
  organizationId: string,
  filter: DeliveryFilter,
  most: number,
): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select count(*)::int as count from (select from delivery d where ${FILTER} limit $7) counted`,
    [...valuesOf(organizationId, filter), most + 1],
  );
  return rows[0]!.count;
}

/** @throws NotFoundError */
export async function loadDelivery(
  tx: SqlExecutor,
  organizationId: string,
  endpointId: string,
  id: string,
): Promise<DeliveryRow> {
  const { rows } = isUuid(id)
    ? await tx.query<DeliveryRow>(
        `select ${COLUMNS} from delivery d where d.organization_id = $1 and d.endpoint_id = $2 and d.id = $3`,
        [organizationId, endpointId, id],
      )
    : { rows: [] };
  const row = rows[0];
  if (row === undefined) throw new NotFoundError('delivery');
  return row;
}

export interface MessagePlace {
  body: Buffer;
  mailbox_id: string | null;
  department_id: string | null;
  conversation_id: string | null;
  needs_send: boolean | null;
}

/** @throws NotFoundError */
export async function loadMessage(
  tx: SqlExecutor,
  organizationId: string,
  eventId: string,
): Promise<MessagePlace> {
  const { rows } = await tx.query<MessagePlace>(
    `select body, mailbox_id, department_id, conversation_id, needs_send from message
      where organization_id = $1 and event_id = $2`,
    [organizationId, eventId],
  );
  if (rows[0] === undefined) throw new NotFoundError('event');
  return rows[0];
}

export interface AttemptRow {
  number: number;
  at: string;
  duration_ms: number;
  outcome: 'delivered' | 'retry' | 'slow_down' | 'gone' | 'failed';
  status_code: number | null;
  error_code: string | null;
  detail: string | null;
  response_start: string | null;
}

/** All of a delivery, oldest first: there are ten at most. */
export async function selectAttempts(
  tx: SqlExecutor,
  endpointId: string,
  deliveryId: string,
): Promise<AttemptRow[]> {
  const { rows } = await tx.query<AttemptRow>(
    `select number, at, duration_ms, outcome, status_code, error_code, detail, response_start
       from attempt where endpoint_id = $1 and delivery_id = $2 order by number`,
    [endpointId, deliveryId],
  );
  return rows;
}
