import { systemClock } from '@dak/kernel';
import type { Log } from '@dak/platform/log';
import { Database } from '@dak/platform/postgres';
import { AuditLog } from '../audit/audit-log';
import type { Backend } from '../backend/backend';
import { feedKeeper, logKeeper, serviceKeeper } from './event-keepers';
import { runRetention, type RetentionReport } from './run-retention';

/** Removes all that organizations keep no longer, at once and as fast as it goes; beside a Dak that runs. */
export async function retainNow(options: {
  /** `dak_gateway` under its runtime role. */
  databaseUrl: string;
  log: Log;
  services: Pick<Backend, 'tenants' | 'mailKeeper'>;
}): Promise<RetentionReport> {
  const { services } = options;
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
        mail: services.mailKeeper,
        events: [
          feedKeeper(database),
          ...services.tenants.map(serviceKeeper),
          logKeeper(options.log),
        ],
        clock: systemClock,
      },
      { pace: 'fast', isThorough: true },
    );
  } finally {
    await database.close();
  }
}
