import { randomUUID } from 'node:crypto';
import { Counter, Gauge, type Registry } from 'prom-client';
import { createRepeatingWorker } from '@dak/platform/lifecycle';
import type { Log } from '@dak/platform/log';
import { failureReport, type Logger } from '@dak/platform/logging';
import type { SharedState } from '@dak/platform/shared-state';
import { eraseLate, eraseOrganization, type ErasureDeps } from './erase-organization';
import { selectErasures } from './erasure-store';
import { runRetention, type RetentionDeps, type RetentionReport } from './run-retention';
import { createScrubSchedule } from './scrub-schedule';

const MINUTE_MS = 60_000;
/** Less than the time between two rounds, so that clocks of replicas may differ. */
const HOURLY_MS = 55 * MINUTE_MS;
const DAILY_MS = 23 * 60 * MINUTE_MS;
const LEASE_MS = 5 * MINUTE_MS;
/** Events of an erased organization may still be on their way in the log so long. */
const LATE_DAYS = 15;

export interface UpkeepOptions extends RetentionDeps, ErasureDeps {
  sharedState: SharedState;
  logger: Logger;
  metrics: Registry;
  log: Log | null;
}

export interface Upkeep {
  start(): void;
  stop(): Promise<void>;
  /** Resolves when the organization is erased, another replica is at it, or it failed: it is tried again. */
  readonly erase: (organizationId: string) => Promise<void>;
}

/** What happens every hour, in one replica at a time, and erasures that were asked for. */
export function createUpkeep(options: UpkeepOptions): Upkeep {
  const { sharedState, logger } = options;
  const token = randomUUID();
  const metrics = createRetentionMetrics(options.metrics);
  const scrubWhenDue = createScrubSchedule(options.scrub);
  let isStopped = false;
  const holds = async (lease: string): Promise<boolean> =>
    !isStopped && (await sharedState.acquire(lease, token, LEASE_MS));

  const retention = async (): Promise<{ more: boolean }> => {
    if (!(await sharedState.setIfAbsent('retention:hourly', token, HOURLY_MS))) {
      return { more: false };
    }
    if (!(await holds('retention'))) return { more: false };
    const isThorough = await sharedState.setIfAbsent('retention:daily', token, DAILY_MS);
    try {
      if (isThorough) await repeatLate(options);
      const report = await runRetention(options, {
        pace: 'gentle',
        isThorough,
        goesOn: () => holds('retention'),
      });
      metrics.done(report);
      await scrubWhenDue({ isDaily: isThorough, hasRemoved: report.messages > 0 });
    } finally {
      await sharedState.release('retention', token);
    }
    return { more: false };
  };
  const reportErasure = failureReport(
    logger,
    'an organization could not be erased; it is tried again',
  );
  const eraseAlone = async (id: string): Promise<void> => {
    const lease = `erasure:${id}`;
    if (!(await holds(lease))) return;
    const kept = setInterval(() => {
      sharedState.extend(lease, token, LEASE_MS).catch(() => undefined);
    }, MINUTE_MS).unref();
    try {
      await eraseOrganization(options, id);
    } finally {
      clearInterval(kept);
      await sharedState.release(lease, token);
    }
  };
  // One that fails must not hold up the others, nor the answer that it was accepted.
  const erase = (id: string): Promise<void> => eraseAlone(id).catch(reportErasure);
  const erasures = async (): Promise<{ more: boolean; isIdle: boolean }> => {
    const { running } = await options.database.asWorker((tx) => selectErasures(tx, LATE_DAYS));
    for (const id of running) await erase(id);
    return { more: false, isIdle: running.length === 0 };
  };
  const workers = [
    createRepeatingWorker(
      'retention',
      retention,
      5 * MINUTE_MS,
      failureReport(logger, 'what organizations keep no longer was not removed; it is tried again'),
    ),
    createRepeatingWorker('erasures', erasures, MINUTE_MS, reportErasure),
  ];
  return {
    start: () => {
      for (const worker of workers) worker.start();
    },
    stop: async () => {
      isStopped = true;
      await Promise.all(workers.map((worker) => worker.stop()));
    },
    erase,
  };
}

async function repeatLate(options: UpkeepOptions): Promise<void> {
  const { late } = await options.database.asWorker((tx) => selectErasures(tx, LATE_DAYS));
  for (const id of late) await eraseLate(options, id);
}

function createRetentionMetrics(registry: Registry): { done: (report: RetentionReport) => void } {
  const removed = new Counter({
    name: 'dak_retention_removed_total',
    help: 'Records removed by retention, by kind',
    labelNames: ['kind'],
    registers: [registry],
  });
  const last = new Gauge({
    name: 'dak_retention_last_run_timestamp_seconds',
    help: 'When the last retention round of this process ended; 0 = none yet',
    registers: [registry],
  });
  return {
    done(report) {
      for (const kind of Object.keys(report) as (keyof RetentionReport)[]) {
        removed.inc({ kind }, report[kind]);
      }
      last.setToCurrentTime();
    },
  };
}
