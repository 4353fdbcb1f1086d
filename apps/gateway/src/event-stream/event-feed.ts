import type { Clock } from '@dak/kernel';
import type { Log, Subscription } from '@dak/platform/log';
import { failureReport, type Logger } from '@dak/platform/logging';
import type { Database } from '@dak/platform/postgres';
import type { VisibilityClient } from '@dak/platform/visibility';
import type { Authenticator } from '../http/authenticator';
import { sweepItems } from './feed-store';
import { startFeedWriter } from './feed-writer';
import { DEFAULT_STREAM_LIMITS, StreamHub, type StreamLimits } from './stream-hub';

export interface EventFeedOptions {
  /** null: other processes write the feed. */
  readonly log: Log | null;
  readonly database: Database;
  readonly authenticator: Authenticator;
  readonly visibility: VisibilityClient;
  /** 32 bytes, the same on every replica. */
  readonly placeKey: Uint8Array;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: Partial<StreamLimits> | undefined;
}

export interface EventFeed {
  readonly hub: StreamHub;
  start(): Promise<void>;
  /** Forgets events that are too old. */
  sweep(): Promise<void>;
  /** Ends the streams, then stops writing. */
  close(): Promise<void>;
}

export const KEEP_HOURS = 48;
const SWEEP_ROWS = 5_000;

/** The feed of events: written from the log by one group of all replicas, read by the streams of each. */
export function createEventFeed(options: EventFeedOptions): EventFeed {
  const { database, log, logger } = options;
  const hub = new StreamHub({
    database,
    authenticator: options.authenticator,
    visibility: options.visibility,
    placeKey: options.placeKey,
    clock: options.clock,
    onError: failureReport(logger, 'event streams wait; it is tried again'),
    limits: { ...DEFAULT_STREAM_LIMITS, ...options.limits },
  });
  let writer: Subscription | null = null;
  return {
    hub,
    async start() {
      if (log === null || writer !== null) return;
      writer = await startFeedWriter({ log, database, onWritten: (ids) => hub.wake(ids) });
    },
    async sweep() {
      for (;;) {
        const removed = await database.asWorker((tx) => sweepItems(tx, KEEP_HOURS, SWEEP_ROWS));
        if (removed < SWEEP_ROWS) return;
      }
    },
    async close() {
      hub.close();
      await writer?.close();
    },
  };
}
