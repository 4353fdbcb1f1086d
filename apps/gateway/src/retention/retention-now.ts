import { systemClock } from '@dak/kernel';
import type { Log } from '@dak/platform/log';
import { Database } from '@dak/platform/postgres';
import { AuditLog } from '../audit/audit-log';
import type { Backend } from '../backend/backend';
import { feedKeeper, logKeeper } from './event-keepers';
import { runRetention, type RetentionReport } from './run-retention';

/** Removes all that organizations keep no longer, at once and as fast as it goes; beside a Dak that runs. */
export async function retainNow(options: {
  /** `dak_gateway` under its runtime role. */
  databaseUrl: string;
  log: Log;
  keepers: NonNullable<Backend['keepers']>;
}): Promise<RetentionReport> {
  const database = new Database({
    url: options.databaseUrl,
    applicationName: 'dak retention',
    maxConnections: 2,
  });
  try {
    return await runRetention(
      {
        database,
        audit: new AuditLog(database, systemClock),
        keepers: {
          ...options.keepers,
          events: [feedKeeper(database), ...options.keepers.events, logKeeper(options.log)],
        },
        clock: systemClock,
      },
      { pace: 'fast', isThorough: true },
    );
  } finally {
    await database.close();
  }
}
