import { isDeepStrictEqual } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
import { PUBLIC_TOPICS } from '@dak/contracts/events';
import { InvalidError } from '@dak/kernel';
import { fromLogRecord, type Log, type LogRecord } from '@dak/platform/log';
import type { Database } from '@dak/platform/postgres';
import { journalEntry, type JournalEntry } from './journal-entry';
import { selectEntries } from './model-store';

/** How the journal compares with the events still in the log. */
export interface LogComparison {
  /** Events in the log of which something is counted. */
  read: number;
  /** Events (their UUIDs) that the journal lacks, or has other facts of; the first hundred of each. */
  missing: string[];
  different: string[];
}

/** A group used only for comparisons; it starts from the beginning each time. */
const GROUP = 'analytics-comparison';
const CONCURRENCY = 64;
const BATCH = 500;
const LOOK_EVERY_MS = 200;
/** How long an event may take from the log into the journal. */
const PATIENCE_MS = 5_000;
const LISTED = 100;

/**
 * Reads the log from its beginning and looks up every event in the journal. The log forgets; what
 * it has forgotten is in the journal alone.
 */
export async function compareWithLog(
  database: Database,
  log: Log,
  onEvents: (count: number) => void = () => undefined,
): Promise<LogComparison> {
  const comparison: LogComparison = { read: 0, missing: [], different: [] };
  const note = (list: string[], id: string) => void (list.length < LISTED && list.push(id));
  let behind: JournalEntry[] = [];
  const look = async (entries: readonly JournalEntry[]): Promise<JournalEntry[]> => {
    const known = await database.asWorker((tx) => selectEntries(tx, entries));
    return entries.filter((entry) => {
      const stored = known.get(`${entry.organizationId}:${entry.eventId}`);
      if (stored === undefined) return true;
      if (!isSame(entry, stored)) note(comparison.different, entry.eventId);
      return false;
    });
  };
  const topics = PUBLIC_TOPICS;
  const subscription = await log.subscribe(
    GROUP,
    topics,
    async (records) => {
      const entries = records.flatMap((record) => {
        const entry = readEntry(record);
        // Its key is parked in the group of analytics; it must not be parked in this one, too.
        if (entry === undefined) note(comparison.missing, record.id.replace(/^evt_/, ''));
        return entry ?? [];
      });
      behind.push(...(await look(entries)));
      comparison.read += entries.length;
      onEvents(records.length);
    },
    { from: 'earliest', concurrency: CONCURRENCY, maxBatch: BATCH },
  );
  try {
    while ((await log.lag(GROUP)).some(({ records }) => records > 0)) await delay(LOOK_EVERY_MS);
  } finally {
    await subscription.close();
    // For the next comparison.
    for (const topic of topics) await log.seek(GROUP, topic, 'earliest');
  }
  const until = Date.now() + PATIENCE_MS;
  while (behind.length > 0 && Date.now() < until) {
    await delay(LOOK_EVERY_MS);
    behind = await look(behind);
  }
  for (const { eventId } of behind) note(comparison.missing, eventId);
  return comparison;
}

/** Undefined for an event that cannot be read. */
function readEntry(record: LogRecord): JournalEntry | null | undefined {
  try {
    return journalEntry(fromLogRecord(record));
  } catch (error) {
    if (error instanceof InvalidError) return undefined;
    throw error;
  }
}

/** As JSON, which is how the journal keeps facts. */
function isSame(entry: JournalEntry, stored: JournalEntry): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(entry)), stored);
}
