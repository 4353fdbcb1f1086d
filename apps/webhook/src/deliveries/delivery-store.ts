import { NotFoundError, isUuid } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { DELIVERY, type DeliveryRow } from '../fan-out/delivery-row';
import type { MessageRow } from '../fan-out/message-row';
import { ATTEMPT, type AttemptRow } from './attempt-row';

export interface DeliveryFilter {
  endpointId: string;
  /** Empty = all. */
  states: readonly string[];
  eventTypes: readonly string[];
  /** Bounds of ids, which sort by time: `from` inclusive, `to` exclusive. */
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
    `select ${DELIVERY.list('d')} from delivery d
      where ${FILTER} and ($7::uuid is null or d.id < $7)
      order by d.id desc offset $8 limit $9`,
    [...valuesOf(organizationId, filter), window.before, window.offset, window.limit],
  );
  return rows;
}

/** The exact count up to `most`, otherwise `most` + 1. */
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
        `select ${DELIVERY.list('d')} from delivery d where d.organization_id = $1 and d.endpoint_id = $2 and d.id = $3`,
        [organizationId, endpointId, id],
      )
    : { rows: [] };
  const row = rows[0];
  if (row === undefined) throw new NotFoundError('delivery');
  return row;
}

export type StoredMessage = Pick<
  MessageRow,
  'body' | 'mailbox_id' | 'department_id' | 'conversation_id' | 'needs_send'
>;

/** @throws NotFoundError */
export async function loadMessage(
  tx: SqlExecutor,
  organizationId: string,
  eventId: string,
): Promise<StoredMessage> {
  const { rows } = await tx.query<StoredMessage>(
    `select body, mailbox_id, department_id, conversation_id, needs_send from message
      where organization_id = $1 and event_id = $2`,
    [organizationId, eventId],
  );
  if (rows[0] === undefined) throw new NotFoundError('event');
  return rows[0];
}

/** All attempts of a delivery, oldest first. */
export async function selectAttempts(
  tx: SqlExecutor,
  endpointId: string,
  deliveryId: string,
): Promise<AttemptRow[]> {
  const { rows } = await tx.query<AttemptRow>(
    `select ${ATTEMPT.list('a')} from attempt a where a.endpoint_id = $1 and a.delivery_id = $2 order by a.number`,
    [endpointId, deliveryId],
  );
  return rows;
}
