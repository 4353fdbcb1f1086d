import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { DomainError } from '@dak/kernel';
import type { BlobStore } from '@dak/platform/blobs';
import { failureReport, type FailureLog } from '@dak/platform/logging';
import type { Database } from '@dak/platform/postgres';
import { failAbandonedImports } from '../import/import-store';
import { failedReading } from '../reading/failed-reading';
import { NumberReserve } from './number-reserve';
import { rawOf, readEntries, storeBlobs, type ReadMessage } from './read-entries';
import {
  claimSpoolEntries,
  deferSpoolEntry,
  releaseSpoolEntries,
  takeBackSpoolEntries,
  type ClaimedEntry,
} from './spool-store';
import { storeInbound } from './store-inbound';

export interface InboundPipelineOptions {
  readonly database: Database;
  readonly blobs: BlobStore;
  readonly read: ReadMessage;
  readonly log: FailureLog;
  /** Name of this process, the same after a restart; see `readProcessName`. @default a name of its own */
  readonly owner?: () => Promise<string>;
  /** Whether what arrives has precedence at the moment; no batch is begun meanwhile. @default never */
  readonly mustYield?: () => boolean;
  /** Called after messages were stored: the outbox has events. */
  readonly onStored?: (messages: number) => void;
  /** Entries of one claim. @default 100 */
  readonly batchSize?: number;
  /** Batches worked on at the same time: one is read while the other is stored. @default 2 */
  readonly lanes?: number;
  /** Milliseconds between looks at the spool when nobody wakes the pipeline. @default 1000 */
  readonly pollMs?: number;
  /** Seconds after which the entries of a worker that died are taken over. @default 120 */
  readonly leaseSeconds?: number;
}

export interface InboundPipeline {
  /** Takes back what an earlier process of the same name had claimed, then takes up work. */
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
/** Between looks at whether arrivals still have precedence. */
const YIELD_MS = 20;

const NOTICE = 'This message could not be processed. It is attached as it arrived.';

/**
 * Makes messages of what is in the spool. A claim is a lease; the row goes away in the transaction
 * that stores the message, so a crash anywhere leaves work to be repeated and nothing half done.
 */
export function createInboundPipeline(options: InboundPipelineOptions): InboundPipeline {
  const { database, blobs, read, log, onStored } = options;
  const batchSize = options.batchSize ?? 100;
  const lanes = options.lanes ?? 2;
  const pollMs = options.pollMs ?? 1000;
  const leaseSeconds = options.leaseSeconds ?? 120;
  const numbers = new NumberReserve(database);
  let owner: string = randomUUID();
  let stopping = false;
  let running: Promise<void>[] = [];
  let sleepers: (() => void)[] = [];
  let wakes = 0;
  let sweepAt = 0;

  const wake = () => {
    wakes += 1;
    const woken = sleepers;
    sleepers = [];
    for (const resolve of woken) resolve();
  };

  /** Not when somebody called since `seen`: what they put there came after our look. */
  const sleep = async (seen: number) => {
    if (wakes !== seen) return;
    const timer = new AbortController();
    const woken = new Promise<void>((resolve) => sleepers.push(resolve));
    await Promise.race([
      woken,
      delay(pollMs, undefined, { signal: timer.signal }).catch(() => undefined),
    ]);
    timer.abort();
  };

  const claim = () =>
    database.asWorker((tx) => claimSpoolEntries(tx, owner, batchSize, leaseSeconds));

  const store = async (organizationId: string, entries: readonly ClaimedEntry[]) => {
    const items = await readEntries(blobs, read, organizationId, entries);
    await storeInbound(database, numbers, organizationId, items);
    onStored?.(items.length);
  };

  const storeOpaque = async (entry: ClaimedEntry) => {
    const raw = await rawOf(blobs, entry);
    const reading = failedReading(raw);
    const { organizationId } = entry;
    const items = await storeBlobs(blobs, organizationId, [entry], [raw], [reading], NOTICE);
    await storeInbound(database, numbers, organizationId, items);
    onStored?.(1);
  };

  const defer = async (entry: ClaimedEntry, error: unknown) => {
    const seconds = RETRY_SECONDS[Math.min(entry.attempts, RETRY_SECONDS.length) - 1] ?? 1;
    const reason = error instanceof Error ? error.message : String(error);
    log.error({ err: error, spoolId: entry.id, attempts: entry.attempts }, 'message not stored');
    await database.asWorker((tx) =>
      deferSpoolEntry(tx, entry.organizationId, entry.id, seconds, reason),
    );
  };

  /** One message that fails must not hold up those it was claimed with. */
  const storeAlone = async (entry: ClaimedEntry) => {
    try {
      if (entry.attempts > MAX_ATTEMPTS) await storeOpaque(entry);
      else await store(entry.organizationId, [entry]);
    } catch (error) {
      if (isOutage(error)) throw error;
      await defer(entry, error);
    }
  };

  const storeOrganization = async (organizationId: string, entries: readonly ClaimedEntry[]) => {
    const [fresh, troubled] = [
      entries.filter((entry) => entry.attempts === 1),
      entries.filter((entry) => entry.attempts > 1),
    ];
    try {
      if (fresh.length > 0) await store(organizationId, fresh);
    } catch (error) {
      if (isOutage(error)) throw error;
      log.warn(
        { err: error, organizationId, messages: fresh.length },
        'batch not stored, one by one',
      );
      for (const entry of fresh) await storeAlone(entry);
    }
    for (const entry of troubled) await storeAlone(entry);
  };

  /** @returns entries taken */
  const work = async (): Promise<number> => {
    const entries = await claim();
    const groups = Map.groupBy(entries, (entry) => entry.organizationId);
    const results = await Promise.allSettled(
      [...groups].map(([organizationId, group]) => storeOrganization(organizationId, group)),
    );
    const failed = [...groups.values()].filter((_, index) => results[index]!.status === 'rejected');
    if (failed.length > 0) {
      // Nothing is wrong with these messages: they are not to be counted as tried.
      const reason: unknown = results.find((result) => result.status === 'rejected')?.reason;
      await database
        .asWorker((tx) => releaseSpoolEntries(tx, failed.flat()))
        .catch(() => undefined);
      throw reason;
    }
    return entries.length;
  };

  const sweep = async () => {
    if (Date.now() < sweepAt) return;
    sweepAt = Date.now() + SWEEP_MS;
    await database.asWorker((tx) => failAbandonedImports(tx, ABANDONED_IMPORT_SECONDS));
  };

  const interrupted = failureReport(log, 'inbound mail could not be worked on; it is tried again');
  const lane = async () => {
    while (!stopping) {
      if (options.mustYield?.() === true) {
        await delay(YIELD_MS);
        continue;
      }
      try {
        const seen = wakes;
        const count = await work();
        if (count === batchSize) continue;
        await sweep();
        if (count === 0 && !stopping) await sleep(seen);
      } catch (error) {
        interrupted(error);
        if (!stopping) await delay(pollMs);
      }
    }
  };

  return {
    wake,
    async start() {
      stopping = false;
      if (options.owner !== undefined) {
        owner = await options.owner();
        await database.asWorker((tx) => takeBackSpoolEntries(tx, owner));
      }
      running = Array.from({ length: lanes }, lane);
    },
    async stop() {
      stopping = true;
      wake();
      await Promise.all(running.splice(0));
    },
    async drain() {
      while ((await work()) > 0);
    },
  };
}

/** The database or the blob store is away, not the message at fault. */
function isOutage(error: unknown): boolean {
  if (error instanceof DomainError) return error.kind === 'unavailable';
  const code =
    typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return /^(08|53|57)/.test(code) || /^(E(CONN|PIPE|TIMEDOUT|NOSPC|MFILE|IO$)|UND_)/.test(code);
}
