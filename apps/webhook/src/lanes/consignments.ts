import type { FreshDelivery } from '../fan-out/fan-out';
import type { Consignment, Lane } from './lane';
import type { DueRow } from './lane-store';

/** What is younger and goes out for the first time was judged just now. */
const JUDGED_FOR_MS = 30_000;

/** Longer than what was judged just now: it is asked anew who may read it. */
export function hasWaited({ attempts, createdAt }: Consignment, now: number): boolean {
  return attempts > 0 || now - createdAt > JUDGED_FOR_MS;
}

/** As fan-out hands it over. */
export function consignmentOf(delivery: FreshDelivery, now: number): Consignment {
  return {
    id: delivery.id,
    eventId: delivery.eventId,
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

/** Of each conversation the first: an event and its replay may both have nobody before them. */
export function headsOf(lane: Lane, rows: readonly DueRow[]): Consignment[] {
  const keys = new Set<string>();
  return rows.flatMap((row) => {
    if (row.order_key !== null && lane.config.isOrdered) {
      if (keys.has(row.order_key)) return [];
      keys.add(row.order_key);
    }
    const isOrdered = lane.config.isOrdered && row.order_key !== null;
    return [
      {
        id: row.id,
        eventId: row.event_id,
        trigger: row.trigger,
        attempts: row.attempts,
        isOrdered,
        orderKey: isOrdered ? row.order_key : null,
        gap: row.gap,
        firstAttemptAt: row.first_attempt_at === null ? null : Date.parse(row.first_attempt_at),
        createdAt: Date.parse(row.created_at),
        body: row.body,
        traceparent: row.traceparent,
      },
    ];
  });
}
