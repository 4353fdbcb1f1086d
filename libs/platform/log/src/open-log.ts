import pg from 'pg';
import type { Log } from './log';
import { PostgresLog } from './postgres-log';

export interface OpenLogOptions {
  /** `dak_log` under its runtime role, migrated. */
  databaseUrl: string;
  /** Comma list of `host:port`; absent = the log is in PostgreSQL. */
  brokers?: string | undefined;
  /** What went wrong and is being retried. */
  onError: (error: unknown) => void;
}

export interface OpenedLog {
  log: Log;
  /** Resolves when the log cannot go on in this process, which then has to end. */
  failed: Promise<Error>;
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 4;

/** The event log of this process, of the driver that the configuration names. */
export async function openLog(options: OpenLogOptions): Promise<OpenedLog> {
  const { databaseUrl, onError } = options;
  const pool = new pg.Pool({ connectionString: databaseUrl, max: MAX_CONNECTIONS });
  const log = await PostgresLog.open({ pool, onError });
  return {
    log,
    failed: new Promise(() => undefined),
    close: async () => {
      await log.close();
      await pool.end();
    },
  };
}
