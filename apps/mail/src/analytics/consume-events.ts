import { PUBLIC_TOPICS } from '@dak/contracts/events';
import { createGroupCommit } from '@dak/platform/group-commit';
import { classifyFailure, fromLogRecord, type Log, type Subscription } from '@dak/platform/log';
import type { Database } from '@dak/platform/postgres';
import { journalEntry, timeOf } from './journal-entry';
import { takeEvents, type TakenEvent } from './take-events';

export const ANALYTICS_GROUP = 'analytics';
/** Keys whose events wait for one transaction together. */
const KEYS = 256;
/** Calls of the handler per transaction, and events per call. */
const MOST_KEYS = 512;
const MOST_EVENTS = 200;
/** Numbers may be this much behind; under load it makes few large transactions of many small ones. */
const PAUSE_MS = 400;

export interface AnalyticsConsumer {
  start(): Promise<void>;
  /** Resolves when events in progress are committed. */
  stop(): Promise<void>;
}

/** Null when the events are taken in. */
type Outcome = { error: unknown } | null;

function toOutcome(error: unknown): Outcome {
  return { error };
}

/** Takes every event of the log into the read model, many keys per transaction. */
export function createAnalyticsConsumer(database: Database, log: Log): AnalyticsConsumer {
  const take = (events: readonly TakenEvent[]) => database.asWorker((tx) => takeEvents(tx, events));
  const commits = createGroupCommit<TakenEvent[], Outcome>(
    async (groups) => {
      try {
        await take(groups.flat());
        return groups.map(() => null);
      } catch (error) {
        if (groups.length === 1 || classifyFailure(error) === 'transient') throw error;
        // One key must not park the others that happened to come with it.
        const outcomes: Outcome[] = [];
        for (const group of groups) outcomes.push(await take(group).then(() => null, toOutcome));
        return outcomes;
      }
    },
    { maxItems: MOST_KEYS, gatherMs: 2 },
  );
  let subscription: Subscription | null = null;
  return {
    async start() {
      subscription = await log.subscribe(
        ANALYTICS_GROUP,
        PUBLIC_TOPICS,
        async (records) => {
          const events = records.map((record): TakenEvent => {
            const event = fromLogRecord(record);
            return {
              organizationId: event.organizationId,
              occurredAt: timeOf(event),
              entry: journalEntry(event),
            };
          });
          const outcome = await commits.submit(events);
          if (outcome !== null) throw outcome.error;
        },
        { from: 'earliest', concurrency: KEYS, maxBatch: MOST_EVENTS, pauseMs: () => PAUSE_MS },
      );
    },
    async stop() {
      await subscription?.close();
      await commits.idle();
    },
  };
}
