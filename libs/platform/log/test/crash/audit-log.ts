import { Pool } from 'pg';
import { eventually } from '@dak/testing/waiting';
import { KafkaLog, PostgresLog, fromLogRecord, type Log, type LogRecord } from '../../src/index';
import { CRASH_TOPICS, ignore } from './stage';

export interface LogFindings {
  records: number;
  /** Records of an event that is in the log already. */
  repetitions: number;
  /** Offsets that are missing or there twice, and records before their predecessor. */
  irregular: number;
  /** Events that come for the first time before an earlier one of their key. */
  disordered: number;
}

/** Reads a log from its beginning to its end, as it is after everything has stopped. */
export async function auditLog(url: string, brokers: string | undefined): Promise<LogFindings> {
  const pool = new Pool({ connectionString: url, max: 4 });
  const options = { pool, topics: CRASH_TOPICS, onError: ignore };
  const log: Log =
    brokers === undefined
      ? await PostgresLog.open(options)
      : await KafkaLog.open({ ...options, brokers: [brokers], onDead: ignore });
  const records: LogRecord[] = [];
  await log.subscribe('auditor', Object.keys(CRASH_TOPICS), async (batch) => {
    records.push(...batch);
  });
  const isRead = async () => (await log.lag('auditor')).every(({ records }) => records === 0);
  await eventually('the log is read', isRead, 300_000);
  await log.close();
  await pool.end();
  return judge(records);
}

function judge(records: readonly LogRecord[]): LogFindings {
  const ids = new Set<string>();
  const latest = new Map<string, number>();
  let irregular = 0;
  let disordered = 0;
  for (const own of Map.groupBy(records, ({ partition }) => partition).values()) {
    own.sort((a, b) => a.offset - b.offset);
    own.forEach((record, n) => {
      if (record.offset !== n) irregular += 1;
      if (ids.has(record.id)) return;
      ids.add(record.id);
      const { sequence } = fromLogRecord(record);
      if (sequence < (latest.get(record.key) ?? 0)) disordered += 1;
      latest.set(record.key, sequence);
    });
  }
  return { records: records.length, repetitions: records.length - ids.size, irregular, disordered };
}
