import { PUBLIC_TOPICS } from '@dak/contracts/events';
import { createGroupCommit } from '@dak/platform/group-commit';
import {
  classifyFailure,
  createReadPacing,
  fromLogRecord,
  type Log,
  type Subscription,
} from '@dak/platform/log';
import type { Database } from '@dak/platform/postgres';
import { toFeedItem, type FeedItem } from './feed-item';
import { appendItems } from './feed-store';

/** One group over all replicas: each event is put into the feed once. */
const GROUP = 'stream-feed';
const CONCURRENCY = 64;
/** Delays streams by at most this much, so the feed is written in fewer transactions; without listeners, in hardly any. */
const REST = { busyMs: 50, quietMs: 200 };
const GROUP_BYTES = 4 * 1024 * 1024;
/** Writers of one organization wait for each other, so more than these only hold connections. */
const MAX_ITEMS = 200;

/**
 * Copies the log into the feed that streams read, for organizations with listeners. Events
 * of one conversation keep their order, as the log hands them over one call after the other; those of
 * several keys share a transaction.
 * @param onWritten called after the commit with the organizations whose feed has grown
 */
export function startFeedWriter(deps: {
  log: Log;
  database: Database;
  onWritten: (organizationIds: ReadonlySet<string>) => void;
}): Promise<Subscription> {
  const { database, onWritten } = deps;
  const pacing = createReadPacing(REST);
  const write = async (items: readonly FeedItem[]): Promise<void> => {
    const grown = await database.asWorker((tx) => appendItems(tx, items));
    if (grown.size === 0) return;
    pacing.relevant();
    onWritten(grown);
  };
  const group = createGroupCommit<readonly FeedItem[], void>(
    async (batches) => {
      await write(batches.flat());
      return batches.map(() => undefined);
    },
    {
      maxItems: MAX_ITEMS,
      maxBytes: GROUP_BYTES,
      size: (items) => items.reduce((sum, { body }) => sum + body.length, 0),
    },
  );
  return deps.log.subscribe(
    GROUP,
    PUBLIC_TOPICS,
    async (records) => {
      const items = records.flatMap((record) => toFeedItem(fromLogRecord(record)) ?? []);
      if (items.length === 0) return;
      try {
        await group.submit(items);
      } catch (error) {
        if (classifyFailure(error) === 'transient') throw error;
        // One key must not park the others that happened to come with it.
        await write(items);
      }
    },
    { from: 'latest', concurrency: CONCURRENCY, pauseMs: () => pacing.pauseMs() },
  );
}
