import type { AttemptedDelivery } from '../decisions/settle-attempt';
import type { FreshDelivery } from '../fan-out/fan-out';
import type { DueRow } from './lane-store';

/** A delivery that is due, with everything its attempt needs. */
export interface DueDelivery extends AttemptedDelivery {
  eventId: string;
  /** W3C trace context of the event. */
  traceparent: string | null;
  body: Buffer;
  /** The conversation within which an ordered endpoint gets events in order; null = any order. */
  orderKey: string | null;
  gap: boolean;
  /** Milliseconds since the epoch. */
  createdAt: number;
}

/** For so long the check of rights that fan-out made is good enough for a first attempt. */
const FRESH_FOR_MS = 30_000;

/** Whether the owner's rights must be checked again before an attempt. */
export function needsRecheck({ attempts, createdAt }: DueDelivery, now: number): boolean {
  return attempts > 0 || now - createdAt > FRESH_FOR_MS;
}

/** A delivery of an unordered endpoint, straight from fan-out. */
export function dueFromFanOut(delivery: FreshDelivery, now: number): DueDelivery {
  return {
    id: delivery.id,
    eventId: delivery.event_id,
    trigger: delivery.trigger,
    attempts: 0,
    isOrdered: false,
    orderKey: null,
    gap: false,
    firstAttemptAt: null,
    createdAt: now,
    body: delivery.body,
    traceparent: delivery.traceparent,
  };
}

/**
 * Deliveries of one endpoint as read from the table; of an ordered one the first of each conversation, since an event
 * and its replay may both have no predecessor.
 */
export function dueFromRows(rows: readonly DueRow[], endpointIsOrdered: boolean): DueDelivery[] {
  const keys = new Set<string>();
  return rows.flatMap((row) => {
    const orderKey = endpointIsOrdered ? row.order_key : null;
    if (orderKey !== null) {
      if (keys.has(orderKey)) return [];
      keys.add(orderKey);
    }
    return [
      {
        id: row.id,
        eventId: row.event_id,
        trigger: row.trigger,
        attempts: row.attempts,
        isOrdered: orderKey !== null,
        orderKey,
        gap: row.gap,
        firstAttemptAt: row.first_attempt_at === null ? null : Date.parse(row.first_attempt_at),
        createdAt: Date.parse(row.created_at),
        body: row.body,
        traceparent: row.traceparent,
      },
    ];
  });
}
