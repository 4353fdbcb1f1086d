import { setTimeout as delay } from 'node:timers/promises';
import { classifyFailure, reasonOf, retryDelayMs } from './failure';
import type { HandlingFailure, LogRecord, RecordHandler } from './log';
import type { Slots } from './slots';

export interface BatchRules {
  group: string;
  handler: RecordHandler;
  maxBatch: number;
  maxAttempts: number;
  slots: Slots;
}

export interface BatchOwner {
  /** Aborted once the partition has to be given up; no handler starts after that. */
  signal: AbortSignal;
  /** True until the partition is given up or being drained. */
  mayStart(): boolean;
  /** Parks the key of these records, which are all of one key. */
  park(records: readonly LogRecord[], reason: string): Promise<void>;
  /** Puts records of parked keys behind the parked ones. @returns the keys that are parked. */
  appendParked(records: readonly LogRecord[]): Promise<Set<string>>;
  /** A record is handled or parked. */
  finished(record: LogRecord): void;
  /** Errors of the log's own tables. */
  onError(error: unknown): void;
  /** Errors of the handler. */
  onFailure(failure: HandlingFailure): void;
}

/**
 * Hands consecutive records of one partition to the handler: in order per key, keys in parallel, in
 * turns of at most `maxBatch` records so that a busy key does not hold up the others. Returns when
 * all are finished, or early when the partition is being given up.
 */
export async function handleBatch(
  records: readonly LogRecord[],
  rules: BatchRules,
  owner: BatchOwner,
): Promise<void> {
  const parked = await untilDone(() => owner.appendParked(records), owner);
  if (parked === null) return;
  const byKey = new Map<string, LogRecord[]>();
  for (const record of records) {
    if (parked.has(record.key)) {
      owner.finished(record);
      continue;
    }
    const ofKey = byKey.get(record.key);
    if (ofKey === undefined) byKey.set(record.key, [record]);
    else ofKey.push(record);
  }
  await Promise.all([...byKey.values()].map((ofKey) => handleKey(ofKey, rules, owner)));
}

async function handleKey(
  records: readonly LogRecord[],
  rules: BatchRules,
  owner: BatchOwner,
): Promise<void> {
  for (let next = 0; next < records.length; next += rules.maxBatch) {
    // Waiting again after each turn lets the other keys go first.
    await rules.slots.take();
    try {
      const turn = records.slice(next, next + rules.maxBatch);
      const failure = await deliver(turn, rules, owner);
      if (failure === 'stopped') return;
      if (failure !== null) {
        const rest = records.slice(records.indexOf(failure.record));
        const done = await untilDone(() => owner.park(rest, reasonOf(failure.error)), owner);
        if (done === null) return;
        rest.forEach((record) => owner.finished(record));
        owner.onFailure(describeFailure(rules, rest, failure.error, 'parked'));
        return;
      }
    } finally {
      rules.slots.give();
    }
  }
}

type Delivery = null | 'stopped' | { record: LogRecord; error: unknown };

/** Null when all went through; otherwise the record that stops its key. */
async function deliver(
  records: readonly LogRecord[],
  rules: BatchRules,
  owner: BatchOwner,
): Promise<Delivery> {
  let failures = 0;
  for (let attempt = 1; ; attempt += 1) {
    if (!owner.mayStart()) return 'stopped';
    try {
      const { topic, key } = records[0]!;
      await rules.handler(records, {
        group: rules.group,
        topic,
        key,
        attempt,
        signal: owner.signal,
      });
      records.forEach((record) => owner.finished(record));
      return null;
    } catch (error) {
      const kind = classifyFailure(error);
      if (kind === 'transient') {
        owner.onFailure(describeFailure(rules, records, error, 'waits'));
      } else {
        // One by one, to find the record that fails and to let those before it through.
        if (records.length > 1) return deliverSingly(records, rules, owner);
        failures += 1;
        if (kind === 'poison' || failures >= rules.maxAttempts) {
          return { record: records[0]!, error };
        }
        owner.onFailure(describeFailure(rules, records, error, 'repeated'));
      }
      await pause(attempt, owner);
    }
  }
}

function describeFailure(
  { group }: BatchRules,
  records: readonly LogRecord[],
  error: unknown,
  outcome: HandlingFailure['outcome'],
): HandlingFailure {
  const { topic, key, id } = records[0]!;
  return { group, topic, key, eventId: id, events: records.length, error, outcome };
}

async function deliverSingly(
  records: readonly LogRecord[],
  rules: BatchRules,
  owner: BatchOwner,
): Promise<Delivery> {
  for (const record of records) {
    const failure = await deliver([record], rules, owner);
    if (failure !== null) return failure;
  }
  return null;
}

/** Repeats a change of the log's own tables until it succeeds; null when the partition is given up first. */
async function untilDone<T>(change: () => Promise<T>, owner: BatchOwner): Promise<T | null> {
  for (let attempt = 1; ; attempt += 1) {
    if (owner.signal.aborted) return null;
    try {
      return await change();
    } catch (error) {
      owner.onError(error);
      if (classifyFailure(error) !== 'transient') return null;
      await pause(attempt, owner);
    }
  }
}

async function pause(attempt: number, owner: BatchOwner): Promise<void> {
  const until = performance.now() + retryDelayMs(attempt, Math.random());
  // In short steps: draining must not wait for a long pause.
  while (owner.mayStart() && performance.now() < until) {
    await delay(Math.min(50, Math.max(1, until - performance.now())));
  }
}
