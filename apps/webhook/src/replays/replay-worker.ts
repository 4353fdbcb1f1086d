import type { Database } from '@dak/platform/postgres';
import type { WebhookDeps } from '../endpoints/webhook-deps';
import { deliveryId } from '../fan-out/delivery-id';
import type { NewDelivery } from '../fan-out/delivery-row';
import { insertDeliveries } from '../fan-out/fan-out-store';
import { mayStillRead } from '../visibility/may-still-read';
import {
  advanceReplay,
  type RepeatedRow,
  type ReplayRow,
  selectEndpointOf,
  selectRepeated,
  selectRunning,
} from './replay-store';

const BATCH = 500;
/** Deliveries that may wait for one endpoint; while there are more, its replays pause. */
const ENOUGH_WAITING = 2_000;

type ReplayDeps = Pick<WebhookDeps, 'database' | 'visibility' | 'onChanged'>;

/**
 * Makes one step of every running replay. A failing step is reported and delays no other replay. The position is in
 * the table, and repeating a step makes no second delivery, so any process can continue after a crash.
 * @returns whether there is more to do at once
 */
export async function replayRound(
  deps: ReplayDeps & { onError: (error: unknown) => void },
): Promise<{ more: boolean; isIdle: boolean }> {
  const running = await deps.database.asWorker((tx) => selectRunning(tx, ENOUGH_WAITING));
  let more = false;
  for (const replay of running) {
    try {
      if (!replay.is_sendable) await cancel(deps.database, replay);
      else if (replay.waiting < ENOUGH_WAITING) more = (await step(deps, replay)) || more;
    } catch (error) {
      deps.onError(error);
    }
  }
  return { more, isIdle: running.length === 0 };
}

async function step(deps: ReplayDeps, replay: ReplayRow): Promise<boolean> {
  const { database } = deps;
  const { rows, endpoint } = await database.asWorker(async (tx) => ({
    rows: await selectRepeated(tx, replay, BATCH),
    endpoint: await selectEndpointOf(tx, replay),
  }));
  const readable =
    endpoint === null
      ? () => false
      : await mayStillRead(deps, replay.organization_id, endpoint, rows);
  const deliveries = rows
    .filter((row) => readable(row))
    .map((row) => deliveryOf(replay, row, endpoint?.ordering === 'conversation'));
  const isDone = rows.length < BATCH;
  const isMoved = await database.asWorker(async (tx) => {
    const moved = await advanceReplay(tx, replay, {
      position: rows.at(-1)?.id ?? replay.position,
      examined: replay.examined + rows.length,
      queued: replay.queued + deliveries.length,
      state: isDone ? 'done' : 'running',
    });
    if (!moved) return false;
    const insert = insertDeliveries(deliveries);
    await tx.query(insert.text, insert.values);
    return true;
  });
  if (isMoved) deps.onChanged([replay.endpoint_id]);
  return !isDone;
}

async function cancel(database: Database, replay: ReplayRow): Promise<void> {
  await database.asWorker((tx) => advanceReplay(tx, replay, { ...replay, state: 'canceled' }));
}

function deliveryOf(replay: ReplayRow, row: RepeatedRow, isOrdered: boolean): NewDelivery {
  return {
    organization_id: replay.organization_id,
    endpoint_id: replay.endpoint_id,
    id: deliveryId(replay.id, row.event_id, replay.endpoint_id),
    event_id: row.event_id,
    event_type: row.event_type,
    trigger: 'replay',
    replay_id: replay.id,
    state: 'pending',
    order_key: isOrdered ? row.order_key : null,
    order_seq: isOrdered ? row.order_seq : 0,
    error_code: null,
  };
}
