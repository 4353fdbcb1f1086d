import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { applyMigrations } from '@dak/platform/migrations';
import {
  SupervisedProcess,
  bundleProgram,
  runNemesis,
  startRestartablePostgres,
  type Fault,
  type RestartablePostgres,
} from '@dak/testing/crash';
import { eventually, timePasses } from '@dak/testing/waiting';
import { auditLog } from './audit-log';
import { checkLedger } from './check-ledger';
import { LEASE_MS, RELAY_BATCH, STAGE_TABLES } from './stage';
import { prepareServiceMigrations } from '../log-database';

export interface BrokerUnderFire {
  brokers: string;
  kill(): void;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** 30 in CI; `DAK_CRASH_ROUNDS=1000` runs for a quarter of an hour. */
const ROUNDS = Number(process.env['DAK_CRASH_ROUNDS'] ?? 30);
const SEED = Number(process.env['DAK_CRASH_SEED'] ?? Date.now() % 1_000_000);
const QUIET_WAIT_MS = 45_000;
/**
 * Each crash may let one publication of both relays and a consumer's uncommitted batch
 * be seen again; a broker or database that goes away hits all of them at once.
 */
const REDELIVERED_PER_BLOW = 2 * RELAY_BATCH + 500;

/**
 * Writers, relays and consumers as processes of their own, killed, frozen and cut off; then whatever
 * was committed has had its effect once, in order, and nothing else has.
 */
export function describeCrashes(
  startBroker: ((folder: string) => Promise<BrokerUnderFire>) | null,
): void {
  let folder: string;
  let postgres: RestartablePostgres;
  let broker: BrokerUnderFire | null;
  let processes: SupervisedProcess[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'dak-crash-'));
    mkdirSync(join(folder, 'kafka'));
    [postgres, broker] = await Promise.all([
      startRestartablePostgres(),
      startBroker?.(join(folder, 'kafka')) ?? null,
    ]);
  }, 120_000);
  afterAll(async () => {
    await Promise.all(processes.map((each) => each.stop()));
    await Promise.all([postgres.stop(), broker?.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  it(
    'loses nothing, repeats no effect and keeps order while everything is killed',
    async () => {
      const service = await applyMigrations({
        adminUrl: postgres.adminUrl,
        database: 'service',
        role: 'service',
        folder: prepareServiceMigrations(folder, STAGE_TABLES),
      });
      const logDatabase = await applyMigrations({
        adminUrl: postgres.adminUrl,
        database: 'dak_log',
        role: 'dak_log',
        folder: join(__dirname, '../../migrations'),
      });
      const acknowledged: string[] = [];
      const files = Object.fromEntries(
        ['writer', 'relay', 'consumer'].map((name) => [
          name,
          bundleProgram(join(__dirname, `${name}.ts`), folder),
        ]),
      );
      const environment = {
        STAGE_SERVICE_URL: service.url,
        STAGE_LOG_URL: logDatabase.url,
        ...(broker === null ? {} : { STAGE_BROKERS: broker.brokers }),
      };
      const supervise = (name: string, program: string): SupervisedProcess =>
        new SupervisedProcess({
          name,
          file: files[program]!,
          environment,
          ...(program === 'writer'
            ? { onLine: (line: string) => acknowledged.push(...line.split(' ')) }
            : {}),
        });
      const writers = ['writer 1', 'writer 2'].map((name) => supervise(name, 'writer'));
      const relays = ['relay 1', 'relay 2'].map((name) => supervise(name, 'relay'));
      const consumers = [1, 2, 3].map((n) => supervise(`consumer ${n}`, 'consumer'));
      processes = [...writers, ...relays, ...consumers];
      for (const each of processes) each.start();

      const admin = new Pool({
        connectionString: postgres.adminUrl.replace(/postgres$/, 'service'),
        max: 2,
      });
      admin.on('error', () => undefined);
      await until(async () => (await checkLedger(admin, [])).delivered > 0, 'the first effect');

      const faults: Fault[] = [
        { name: 'cut connections', share: 5, strike: () => postgres.cutConnections() },
        { name: 'PostgreSQL restart', share: 4, strike: () => postgres.restartImmediately() },
        ...(broker === null
          ? []
          : [
              {
                name: 'broker kill',
                share: 4,
                strike: async () => {
                  broker!.kill();
                  await broker!.restart();
                },
              },
            ]),
      ];
      const report = await runNemesis({
        rounds: ROUNDS,
        victims: [...relays, ...consumers, writers[0]!],
        faults,
        freezeMs: LEASE_MS * 2,
        seed: SEED,
      });

      for (const writer of writers) await writer.stop();
      await until(
        async () => (await checkLedger(admin, [])).lost === 0,
        'every effect',
        async () => ({
          seed: SEED,
          ...report,
          findings: await checkLedger(admin, []),
          surprises: processes.flatMap(({ surprises }) => surprises),
          waiting: await rowsOf(admin, 'select count(*), min(created_at) from outbox'),
          sessions: await rowsOf(
            admin,
            `select datname, application_name, state, wait_event, query, now() - state_change as since
               from pg_stat_activity where backend_type = 'client backend' order by 1, 2`,
          ),
          ...(await logRows(postgres.adminUrl)),
        }),
      );
      // What is delivered once more must not have an effect once more.
      await timePasses(LEASE_MS);
      for (const each of [...relays, ...consumers]) await each.stop();
      const findings = await checkLedger(admin, acknowledged);
      await admin.end();
      const log = await auditLog(logDatabase.url, broker?.brokers);
      process.stdout.write(
        `${JSON.stringify({ seed: SEED, rounds: ROUNDS, ...report, acknowledged: acknowledged.length, ...findings, log })}\n`,
      );

      expect(processes.flatMap(({ surprises }) => surprises)).toEqual([]);
      expect(findings).toMatchObject({
        forgotten: 0,
        lost: 0,
        phantoms: 0,
        repeated: 0,
        disordered: 0,
        unbalanced: 0,
      });
      expect(findings.written).toBeGreaterThanOrEqual(acknowledged.length);
      expect(acknowledged.length).toBeGreaterThan(ROUNDS * 3);
      const blows = Object.values(report.done).reduce((sum, times) => sum + times, 0);
      expect(findings.redelivered).toBeLessThanOrEqual(blows * REDELIVERED_PER_BLOW);
      expect(log).toMatchObject({ irregular: 0, disordered: 0 });
      // PostgreSQL appends and remembers in one transaction; Kafka may get the batch in hand again.
      expect(log.repetitions).toBeLessThanOrEqual(broker === null ? 0 : blows * RELAY_BATCH * 2);
      expect(log.records - log.repetitions).toBe(findings.written);
    },
    ROUNDS * 3_000 + 120_000,
  );
}

async function until(
  condition: () => Promise<boolean>,
  what: string,
  clues: () => Promise<unknown> = async () => null,
): Promise<void> {
  const named = async () => `${what}; ${JSON.stringify(await clues(), null, 1)}`;
  await eventually(named, condition, QUIET_WAIT_MS);
}

async function rowsOf(pool: Pool, sql: string): Promise<unknown[]> {
  return (await pool.query(sql)).rows;
}

async function logRows(adminUrl: string): Promise<Record<string, unknown>> {
  const pool = new Pool({ connectionString: adminUrl.replace(/postgres$/, 'dak_log') });
  const rows = {
    positions: await rowsOf(
      pool,
      `select o.*, now() as now, p.next_off from consumer_offset o left join log_partition p using (topic, part)`,
    ),
    members: await rowsOf(pool, 'select *, now() as now from consumer_member'),
    shards: await rowsOf(pool, 'select *, now() as now from log_shard_lease'),
    parked: await rowsOf(pool, 'select * from parked_key'),
  };
  await pool.end();
  return rows;
}
