import { InvalidError } from '@dak/kernel';
import { eventually } from '@dak/testing/waiting';
import { Registry } from 'prom-client';
import { registerLogMetrics } from '../src/log-metrics';
import { partitionOf } from '../src/murmur2';
import { PostgresLog } from '../src/postgres-log';
import { CONTRACT_TOPICS, describeLog, sumLag, type ProcessLife } from './log.contract';
import { RELAY_LEASE_MS, RELAY_TOPICS, describeRelay } from './relay.contract';
import { messagesFor, openLogDatabase, type LogDatabase } from './log-database';

const LEASE_MS = 900;

describe('PostgresLog', () => {
  let database: LogDatabase;
  const openLog = (
    topics: Record<string, number> = CONTRACT_TOPICS,
    life: Partial<ProcessLife> = {},
  ): Promise<PostgresLog> =>
    PostgresLog.open({ pool: database.pool, topics, leaseMs: LEASE_MS, ...life });

  describe('as a log', () => {
    describeLog(async () => {
      database = await openLogDatabase();
      return { open: openLog, admin: database.admin, close: () => database.drop() };
    });
  });

  describe('behind a relay', () => {
    describeRelay(async () => {
      database = await openLogDatabase();
      const { admin, pool } = database;
      return {
        log: await PostgresLog.open({ pool, topics: RELAY_TOPICS, leaseMs: RELAY_LEASE_MS }),
        admin,
        published: async () => {
          const { rows } = await admin.query<{ event_id: string }>(
            'select event_id from event_log order by topic, part, off',
          );
          return rows.map((row) => row.event_id);
        },
        close: () => database.drop(),
      };
    }, false);
  });

  describe('in metrics', () => {
    let log: PostgresLog;
    beforeEach(async () => {
      database = await openLogDatabase();
      log = await openLog();
    });
    afterEach(async () => {
      await log.close(1_000);
      await database.drop();
    });

    it('shows lag and parked keys of the groups that this process reads for', async () => {
      const registry = new Registry();
      registerLogMetrics(registry, log);
      await log.publish(messagesFor('notes.v1', ['bad'], 2));
      await log.subscribe('reader', ['notes.v1'], async () => {
        throw new InvalidError('cannot be read');
      });
      await log.publish(messagesFor('orders.v1', ['slow'], 3));
      await log.subscribe('idler', ['orders.v1'], () => new Promise(() => undefined));
      const lines = [
        'dak_log_parked_keys{group="reader"} 1',
        'dak_log_parked_keys{group="idler"} 0',
        'dak_log_lag{group="reader"} 0',
        'dak_log_lag{group="idler"} 3',
      ];
      await eventually(async () => {
        const shown = await registry.metrics();
        return lines.every((line) => shown.includes(line));
      });
    });
  });

  describe('in PostgreSQL', () => {
    beforeEach(async () => {
      database = await openLogDatabase();
    });
    afterEach(() => database.drop());

    it('gives offsets without gaps, whoever publishes at the same time', async () => {
      const logs = await Promise.all([openLog(), openLog(), openLog()]);
      await Promise.all(
        logs.map(async (log, i) => {
          for (let n = 0; n < 15; n += 1) {
            await log.publish(messagesFor('orders.v1', [`a${i}`, `b${i}`, `c${n}`, 'same'], 2));
          }
        }),
      );
      const { rows } = await database.admin.query<{ gaps: number; total: number }>(`
        select count(*)::int as total,
               (count(*) filter (where off <> expected))::int as gaps
          from (select off, row_number() over (partition by topic, part order by off) - 1 as expected
                  from event_log) as numbered`);
      expect(rows[0]).toEqual({ total: 3 * 15 * 8, gaps: 0 });
      await Promise.all(logs.map((log) => log.close()));
    });

    it('puts a key where the default partitioner of Kafka would', async () => {
      const log = await openLog();
      await log.publish(messagesFor('orders.v1', ['foobar'], 1));
      const { rows } = await database.admin.query('select part from event_log');
      expect(rows).toEqual([{ part: partitionOf('foobar', 6) }]);
      await log.close();
    });

    it('drops days past retention and reads on behind them', async () => {
      const log = await openLog();
      await log.publish(messagesFor('notes.v1', ['a'], 2));
      await database.admin.query(`
        create table event_log_20200101 partition of event_log
          for values from ('2020-01-01 00:00:00+00') to ('2020-01-02 00:00:00+00');
        with moved as (delete from event_log where off = 0 returning *)
        insert into event_log
        select topic, part, off, event_id, key, headers, payload, '2020-01-01 12:00:00+00' from moved`);
      await log.maintain();
      const { rows } = await database.admin.query(
        `select count(*)::int as days, to_regclass('event_log_20200101') as old
           from pg_inherits where inhparent = 'event_log'::regclass`,
      );
      expect(rows).toEqual([{ days: 9, old: null }]);
      const seen: number[] = [];
      await log.subscribe('reader', ['notes.v1'], async (records) => {
        seen.push(...records.map(({ offset }) => offset));
      });
      await eventually(() => seen.length === 1);
      expect(seen).toEqual([1]);
      expect(sumLag(await log.lag('reader'))).toBe(0);
      await log.close();
    });
  });
});
