import pg from 'pg';
import type { Config, VariableName } from '@dak/platform/config';
import { UnavailableError } from '@dak/kernel';
import { failureReport, type FailureLog } from '@dak/platform/logging';
import type { Registry } from 'prom-client';
import { classifyFailure, reasonOf } from './failure';
import { reportHandlingFailures } from './failure-log';
import { KafkaLog } from './kafka/kafka-log';
import type { Log } from './log';
import { registerLogMetrics } from './log-metrics';
import { PostgresLog } from './postgres-log';

/** What chooses the driver and how it reaches the brokers. */
export const KAFKA_VARIABLES = [
  'DAK_KAFKA_BROKERS',
  'DAK_KAFKA_PREFIX',
  'DAK_KAFKA_TLS',
  'DAK_KAFKA_CA',
  'DAK_KAFKA_SASL',
] as const satisfies readonly VariableName[];

export interface OpenLogOptions {
  /** `dak_log` under its runtime role, migrated. */
  databaseUrl: string;
  config: Config<(typeof KAFKA_VARIABLES)[number]>;
  logger: FailureLog;
  /** Unique to this process and stable across its restarts; see {@link PostgresLogOptions.processName}. */
  processName?: string | undefined;
  metrics?: Registry;
}

export interface OpenedLog {
  log: Log;
  /** Resolves when the log cannot go on in this process, which then has to end. */
  failed: Promise<Error>;
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 4;
const CONNECT_WAIT_MS = 10_000;

/** The event log of this process: in Kafka when brokers are configured, else in PostgreSQL. */
export async function openLog(options: OpenLogOptions): Promise<OpenedLog> {
  const { databaseUrl, config, logger, metrics } = options;
  const report = failureReport(logger, 'the event log did not answer; it is tried again');
  const onError = (error: unknown): void =>
    report(classifyFailure(error) === 'transient' ? awaiting(error) : error);
  const onFailure = reportHandlingFailures(logger);
  const { promise: failed, resolve: onDead } = Promise.withResolvers<Error>();
  const common = {
    ...{ onError, onFailure },
    ...(options.processName === undefined ? {} : { processName: options.processName }),
  };
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_WAIT_MS,
    keepAlive: true,
  });
  try {
    const log =
      config.DAK_KAFKA_BROKERS === undefined
        ? await PostgresLog.open({ pool, ...common })
        : await KafkaLog.open({ ...kafkaOptions(config), ...common, pool, onDead });
    if (metrics !== undefined) registerLogMetrics(metrics, log);
    return {
      log,
      failed,
      close: async () => {
        await log.close();
        await pool.end();
      },
    };
  } catch (error) {
    await pool.end();
    throw error;
  }
}

/** Outages are reported as such, whichever driver they come from. */
function awaiting(error: unknown): UnavailableError {
  return new UnavailableError(`The event log does not answer: ${reasonOf(error)}`, 1, error);
}

function kafkaOptions(config: OpenLogOptions['config']) {
  return {
    brokers: config.DAK_KAFKA_BROKERS?.split(',') ?? [],
    prefix: config.DAK_KAFKA_PREFIX,
    tls: config.DAK_KAFKA_TLS === 'on',
    ...(config.DAK_KAFKA_CA === undefined ? {} : { caFile: config.DAK_KAFKA_CA }),
    ...(config.DAK_KAFKA_SASL === undefined ? {} : { credentials: config.DAK_KAFKA_SASL }),
  };
}
