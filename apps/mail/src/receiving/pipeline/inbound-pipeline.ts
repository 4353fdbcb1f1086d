import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { isOutage } from '@dak/kernel';
import type { BlobStore } from '@dak/platform/blobs';
import { PollingLoop } from '@dak/platform/lifecycle';
import { failureReport, type FailureLog } from '@dak/platform/logging';
import { tookTooLong, type Database } from '@dak/platform/postgres';
import { createSpoolLeases } from '../../spool/spool-leases';
import {
  claimSpoolEntries,
  deferSpoolEntry,
  takeBackSpoolEntries,
  type ClaimedEntry,
} from '../../spool/spool-store';
import { createSpoolTurns } from '../../spool/spool-turns';
import { failAbandonedImports } from '../import/import-store';
import { failedReading } from '../reading/failed-reading';
import type { MailIn } from './mail-in';
import { NumberReserve } from './number-reserve';
import { createPipelineSpans } from './pipeline-spans';
import { rawOf, readEntries, storeBlobs, type ReadMessage } from './read-entries';
import { storeInbound, type ReadEntry } from './store-inbound';

export interface InboundPipelineOptions {
  readonly database: Database;
  readonly blobs: BlobStore;
  readonly read: ReadMessage;
  readonly log: FailureLog;
  /** Name of this process, the same after a restart; see `readProcessName`. @default a unique name */
  readonly owner?: () => Promise<string>;
  /** Whether what arrives has precedence at the moment; only {@link TRICKLE} is stored meanwhile. @default never */
  readonly mustYield?: () => boolean;
  /** Messages were stored, or put off; that is durable. */
  readonly onResults?: (results: readonly MailIn[]) => void;
  /** Clients whose mail waits until no other is due. @default none */
  readonly expensiveClients?: () => readonly string[];
  /** Entries of one claim. @default 100 */
  readonly batchSize?: number;
  /** Octets of raw mail of one claim; one message is taken whatever its size. @default 64 MiB */
  readonly batchBytes?: number;
  /** Milliseconds after which claimed but unstarted mail is released, so that others get a turn. @default 1500 */
  readonly sliceMs?: number;
  /** Batches worked on at the same time: one is read while the other is stored. @default 2 */
  readonly lanes?: number;
  /** Milliseconds between polls of the spool without a wake-up. @default 1000 */
  readonly pollMs?: number;
  /** Seconds after which the entries of a worker that died are taken over. @default 10 */
  readonly leaseSeconds?: number;
}

export interface InboundPipeline {
  /** Reclaims the mail of an earlier process of the same name, then starts work. */
  start(): Promise<void>;
  /** There is something in the spool. */
  wake(): void;
  /** Finishes the batches at hand; the rest of the spool waits for the next start. */
  stop(): Promise<void>;
  /** Works until nothing is due; for commands and tests. The pipeline must not be started. */
  drain(): Promise<void>;
}

/** Tries after which a message is stored unread rather than tried again. */
const MAX_ATTEMPTS = 5;
const RETRY_SECONDS = [1, 5, 30, 120, 3600];
const ABANDONED_IMPORT_SECONDS = 600;
const SWEEP_MS = 60_000;
/** Between checks of whether arrivals still have precedence. */
const YIELD_MS = 20;
/**
 * Entries of the claim that is begun within {@link TRICKLE_MS} also then: turns make it mail of everybody, so that
 * no mail waits for another client's flood to end.
 */
const TRICKLE = 30;
const TRICKLE_MS = 1_000;

/** For a message that has waited for its turn: it is read whatever that takes. */
const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);

const NOTICE = 'This message could not be processed. It is attached as it arrived.';

/**
 * Turns spooled mail into messages. A claim is a lease; the row goes away in the transaction
 * that stores the message, so a crash anywhere leaves work to be repeated and nothing half done.
 */
export function createInboundPipeline(options: InboundPipelineOptions): InboundPipeline {
  const { database, blobs, read, log } = options;
  const batchSize = options.batchSize ?? 100;
  const lanes = options.lanes ?? 2;
  const pollMs = options.pollMs ?? 1000;
  const leaseSeconds = options.leaseSeconds ?? 10;
  const sliceMs = options.sliceMs ?? 1_500;
  const numbers = new NumberReserve(database);
  const spans = createPipelineSpans();
  let owner: string = randomUUID();
  let loops: PollingLoop[] = [];
  let sweepAt = 0;
  let workedAt = -Infinity;

  const leases = createSpoolLeases(database, () => owner, leaseSeconds);
  const turns = createSpoolTurns(options.expensiveClients ?? (() => []), (turn, limit) =>
    database.asWorker((tx) =>
      claimSpoolEntries(tx, {
        ...turn,
        owner,
        limit,
        maxBytes: options.batchBytes ?? 64 * 1024 * 1024,
        leaseSeconds,
      }),
    ),
  );

  const report = (results: readonly MailIn[], error?: unknown) => {
    for (const { entry, outcome } of results) spans.end(entry.id, outcome, error);
    options.onResults?.(results);
  };

  const store = async (organizationId: string, items: readonly ReadEntry[]) => {
    const results = await storeInbound(database, numbers, organizationId, items, blobs);
    leases.letGo(items.map(({ entry }) => entry));
    // Mail taken over by another worker is reported by that worker.
    for (const { entry } of items)
      if (!results.some((one) => one.entry === entry)) spans.drop(entry.id);
    report(results);
  };

  /** @param left those not stored yet; stored ones are removed from it */
  const storeInTime = async (
    organizationId: string,
    left: Map<string, ClaimedEntry>,
    signal: AbortSignal,
  ) => {
    const entries = [...left.values()];
    for await (const items of readEntries(blobs, read, organizationId, entries, signal)) {
      await store(organizationId, items);
      for (const { entry } of items) left.delete(entry.id);
    }
  };

  const storeOpaque = async (entry: ClaimedEntry) => {
    const raw = await rawOf(blobs, entry);
    const reading = failedReading(raw);
    const { organizationId } = entry;
    await store(
      organizationId,
      await storeBlobs(blobs, organizationId, [entry], [raw], [reading], NOTICE),
    );
  };

  const defer = async (entry: ClaimedEntry, error: unknown) => {
    const seconds = RETRY_SECONDS[Math.min(entry.attempts, RETRY_SECONDS.length) - 1] ?? 1;
    const reason = error instanceof Error ? error.message : String(error);
    log.error(
      { err: error, queue_id: entry.queueId, spoolId: entry.id, attempts: entry.attempts },
      'message not stored',
    );
    await database.asWorker((tx) =>
      deferSpoolEntry(tx, entry.organizationId, entry.id, seconds, reason),
    );
    leases.letGo([entry]);
    report([{ entry, outcome: 'deferred', messageId: null }], error);
  };

  /** One message that fails must not hold up those it was claimed with. */
  const storeAlone = async (entry: ClaimedEntry, left: Map<string, ClaimedEntry>) => {
    try {
      if (entry.attempts > MAX_ATTEMPTS) await storeOpaque(entry);
      else await storeInTime(entry.organizationId, new Map([[entry.id, entry]]), NEVER);
    } catch (error) {
      if (isAway(error)) throw error;
      await defer(entry, error);
    }
    left.delete(entry.id);
  };

  /** @param left entries of one organization; stored and deferred ones are removed, the rest ran out of time */
  const storeOrganization = async (
    organizationId: string,
    left: Map<string, ClaimedEntry>,
    signal: AbortSignal,
  ) => {
    const troubled = [...left.values()].filter((entry) => entry.attempts > 1);
    for (const entry of troubled) left.delete(entry.id);
    try {
      await storeInTime(organizationId, left, signal);
    } catch (error) {
      if (isAway(error)) {
        for (const entry of troubled) left.set(entry.id, entry);
        throw error;
      }
      log.warn({ err: error, organizationId, messages: left.size }, 'batch not stored, one by one');
      for (const entry of left.values()) {
        if (signal.aborted) break;
        await storeAlone(entry, left);
      }
    }
    for (const entry of troubled) left.set(entry.id, entry);
    for (const entry of troubled) {
      if (signal.aborted) break;
      await storeAlone(entry, left);
    }
  };

  /** @returns entries taken */
  const work = async (limit = batchSize): Promise<number> => {
    workedAt = performance.now();
    await leases.settle();
    const entries = leases.hold(await turns.next(limit)).map((entry) => spans.begin(entry));
    if (entries.length === 0) return 0;
    const slice = new AbortController();
    setMaxListeners(0, slice.signal);
    const timer = setTimeout(() => slice.abort(), sliceMs);
    const groups = Map.groupBy(entries, (entry) => entry.organizationId);
    const lefts = [...groups].map(
      ([organizationId, group]) =>
        [organizationId, new Map(group.map((entry) => [entry.id, entry]))] as const,
    );
    const results = await Promise.allSettled(
      lefts.map(([organizationId, left]) => storeOrganization(organizationId, left, slice.signal)),
    );
    clearTimeout(timer);
    // Nothing is wrong with these messages: they are not to be counted as tried.
    const untried = lefts.flatMap(([, left]) => [...left.values()]);
    for (const { id } of untried) spans.drop(id);
    await leases.giveBack(untried);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return entries.length;
  };

  const sweep = async () => {
    if (Date.now() < sweepAt) return;
    sweepAt = Date.now() + SWEEP_MS;
    await database.asWorker((tx) => failAbandonedImports(tx, ABANDONED_IMPORT_SECONDS));
  };

  const interrupted = failureReport(log, 'inbound mail could not be worked on; it is tried again');
  /** @returns milliseconds until the next look */
  const turn = async (): Promise<number> => {
    const mustYield = options.mustYield?.() === true;
    if (mustYield && performance.now() - workedAt < TRICKLE_MS) return YIELD_MS;
    const count = await work(mustYield ? TRICKLE : batchSize);
    if (count === batchSize) return 0;
    await sweep();
    return count === 0 ? pollMs : 0;
  };

  return {
    wake() {
      for (const loop of loops) loop.wake();
    },
    async start() {
      if (options.owner !== undefined) {
        owner = await options.owner();
        await database.asWorker((tx) => takeBackSpoolEntries(tx, owner));
      }
      loops = Array.from({ length: lanes }, () => new PollingLoop(turn, interrupted));
      for (const loop of loops) loop.start();
    },
    async stop() {
      await Promise.all(loops.splice(0).map((loop) => loop.stop()));
      await leases.settle().catch(() => undefined);
      leases.stop();
    },
    async drain() {
      while ((await work()) > 0);
    },
  };
}

/**
 * The database or the blob store is away: no message is at fault, and none is counted as tried. What took too long
 * may lie in the message.
 */
function isAway(error: unknown): boolean {
  return isOutage(error) && !tookTooLong(error);
}
