import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { Registry } from 'prom-client';
import { WebhookServiceService } from '@dak/contracts/webhook';
import { uuidv7 } from '@dak/kernel';
import { createClient, InProcessChannel } from '@dak/platform/grpc';
import { PostgresLog } from '@dak/platform/log';
import { createLogger } from '@dak/platform/logging';
import { SupervisedProcess, bundleProgram, runNemesis } from '@dak/testing/crash';
import { createTestDatabase, type TestDatabase } from '@dak/testing/database';
import { eventually, slowPeer, timePasses } from '@dak/testing/waiting';
import { createWebhookService } from '../../src/service';
import { SECRET } from '../service-secret';
import {
  LOG_MIGRATIONS,
  MIGRATIONS,
  callOf,
  endpointRequest,
  principalOf,
  publish,
  receivedEvent,
  startHookSink,
  visibilityOf,
  type HookSink,
} from '../webhook-fixtures';

/** 30 in CI; `DAK_CRASH_ROUNDS=1000` runs for a quarter of an hour. */
const ROUNDS = Number(process.env['DAK_CRASH_ROUNDS'] ?? 30);
const SEED = Number(process.env['DAK_CRASH_SEED'] ?? Date.now() % 1_000_000);
const LEASE_MS = 1_500;
const FREEZE_MS = 2_500;
const CONVERSATIONS = 12;
/** A service takes a while to start; killed faster it would never send. */
const ROUND_MS = [800, 2_000] as const;
const QUIET_WAIT_MS = 90_000;
/** Requests on their way when their sender died have arrived after this time. */
const IN_TRANSIT_MS = 60;

/** Counts what its end left sent and not written down: what may be sent a second time. */
class CountedProcess extends SupervisedProcess {
  unrecorded: () => Promise<number> = async () => 0;
  allowance = 0;

  override kill(): void {
    super.kill();
    void this.#count();
  }

  override async freeze(ms: number): Promise<void> {
    const frozen = super.freeze(ms);
    void this.#count();
    await frozen;
  }

  async #count(): Promise<void> {
    await timePasses(IN_TRANSIT_MS);
    this.allowance += await this.unrecorded();
  }
}

describe('webhooks under fire', () => {
  let folder: string;
  let databases: TestDatabase[];
  let sink: HookSink;
  let processes: CountedProcess[] = [];
  let sql: Pool;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'dak-webhook-crash-'));
    databases = [
      await createTestDatabase({ name: 'webhook', migrationsFolder: MIGRATIONS }),
      await createTestDatabase({ name: 'log', migrationsFolder: LOG_MIGRATIONS }),
    ];
    sql = new Pool({ connectionString: databases[0]!.adminUrl, max: 2 });
    sql.on('error', () => undefined);
    sink = await startHookSink();
  });
  afterAll(async () => {
    await Promise.all(processes.map((each) => each.stop()));
    await sink.close();
    await sql.end();
    for (const database of databases) await database.drop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  const recorded = async (): Promise<number> =>
    (await sql.query<{ n: number }>(`select count(*)::int as n from attempt`)).rows[0]!.n;
  /** POSTs so far, by `webhook-id path`. */
  const posts = new Map<string, number>();
  /** POSTs of deliveries that are not done, as far as they are not written down. */
  const unrecorded = async (): Promise<number> => {
    const { rows } = await sql.query<{ event_id: string; url: string; attempts: number }>(
      `select d.event_id, e.url, d.attempts
         from delivery d join endpoint e on e.id = d.endpoint_id where d.state = 'pending'`,
    );
    return rows.reduce((sum, { event_id, url, attempts }) => {
      const sent = posts.get(`${event_id} ${new URL(url).pathname}`) ?? 0;
      return sum + Math.max(0, sent - attempts);
    }, 0);
  };

  it(
    'sends every event to every endpoint, nothing else, in order, and twice only what a kill interrupted',
    async () => {
      const [database, logDatabase] = databases as [TestDatabase, TestDatabase];
      const admin = principalOf(uuidv7());
      const { organizationId } = admin;
      await createEndpoints(database.url, admin);
      // A receiver that fails now and then: retries take part.
      sink.answer = async ({ path, headers }, response) => {
        const id = `${headers['webhook-id']} ${path}`;
        posts.set(id, (posts.get(id) ?? 0) + 1);
        const fails = path === '/flaky' && posts.get(id) === 1 && Math.random() < 0.05;
        response.statusCode = fails ? 503 : 200;
        // Slow enough for every kill to interrupt something.
        await slowPeer(20 + Math.random() * 60);
        response.end();
      };
      const file = bundleProgram(join(__dirname, 'webhook-process.ts'), folder);
      processes = ['one', 'other'].map(
        (name) =>
          new CountedProcess({
            name,
            file,
            environment: {
              WEBHOOK_URL: database.url,
              LOG_URL: logDatabase.url,
              LEASE_MS: String(LEASE_MS),
            },
          }),
      );
      for (const each of processes) {
        each.unrecorded = unrecorded;
        each.start();
      }

      const pool = new Pool({ connectionString: logDatabase.url, max: 4 });
      const log = await PostgresLog.open({ pool });
      const committed = new Map<string, { key: string; sequence: number }>();
      const conversations = Array.from({ length: CONVERSATIONS }, () => uuidv7());
      const sequences = new Map<string, number>();
      let isWriting = true;
      const writing = (async () => {
        while (isWriting) {
          const events = Array.from({ length: 4 }, () => {
            const key = conversations[Math.floor(Math.random() * CONVERSATIONS)]!;
            const sequence = (sequences.get(key) ?? 0) + 1;
            sequences.set(key, sequence);
            return receivedEvent(organizationId, { conversationId: key, sequence });
          });
          await publish(log, ...events);
          for (const { id, conversationId, sequence } of events) {
            committed.set(id, { key: conversationId!, sequence });
          }
          await slowPeer(25);
        }
      })();
      const report = await runNemesis({
        rounds: ROUNDS,
        victims: processes,
        faults: [],
        freezeMs: FREEZE_MS,
        seed: SEED,
        everyMs: ROUND_MS,
      });
      isWriting = false;
      await writing;
      const wanted = committed.size * PATHS.length;
      const pending = async (): Promise<number> =>
        (
          await sql.query<{ n: number }>(
            `select (${wanted} - count(*) filter (where state = 'delivered'))::int as n from delivery`,
          )
        ).rows[0]!.n;
      await eventually(async () => (await pending()) === 0, QUIET_WAIT_MS);

      const seen = new Map<string, number>();
      const firsts = new Map<string, number[]>();
      for (const { path, event, headers } of sink.received) {
        const id = `${headers['webhook-id']} ${path}`;
        if (!seen.has(id) && path === '/ordered') {
          const key = String(event.data['conversation_id']);
          firsts.set(key, [...(firsts.get(key) ?? []), event.sequence]);
        }
        seen.set(id, (seen.get(id) ?? 0) + 1);
      }
      const allIds = [...committed.keys()].flatMap((id) => PATHS.map((path) => `${id} ${path}`));
      const missing = allIds.filter((id) => !seen.has(id));
      const known = new Set(allIds);
      const phantoms = [...seen.keys()].filter((id) => !known.has(id));
      const duplicates = sink.received.length - (await recorded());
      const allowance = processes.reduce((sum, each) => sum + each.allowance, 0);
      process.stdout.write(
        `seed ${SEED}: ${JSON.stringify({
          events: committed.size,
          posts: sink.received.length,
          duplicates,
          allowance,
          ...report.done,
        })}\n`,
      );
      expect(missing).toEqual([]);
      expect(phantoms).toEqual([]);
      for (const order of firsts.values()) {
        expect(order).toEqual([...order].sort((a, b) => a - b));
      }
      // POSTs beyond those that are written down: what an owner sent and could not record.
      expect(duplicates).toBeGreaterThanOrEqual(0);
      expect(duplicates).toBeLessThanOrEqual(allowance);
      const { rows: torn } = await sql.query(
        `select d.id from delivery d
           join lateral (select count(*) as made, count(distinct number) as numbers, max(number) as last
                           from attempt a where a.endpoint_id = d.endpoint_id and a.delivery_id = d.id) a on true
          where a.made <> d.attempts or a.numbers <> a.made or a.last <> d.attempts`,
      );
      expect(torn).toEqual([]);
      expect(processes.flatMap(({ surprises }) => surprises)).toEqual([]);
      await log.close();
      await pool.end();
    },
    ROUNDS * 2_000 + QUIET_WAIT_MS + 60_000,
  );

  async function createEndpoints(
    databaseUrl: string,
    admin: ReturnType<typeof principalOf>,
  ): Promise<void> {
    const pool = new Pool({ connectionString: databases[1]!.url, max: 2 });
    const log = await PostgresLog.open({ pool });
    const service = createWebhookService({
      databaseUrl,
      log,
      visibility: visibilityOf(new Set()),
      logger: createLogger('webhook', 'fatal'),
      metrics: new Registry(),
      secret: SECRET,
      allow: '127.0.0.1',
    });
    const api = createClient(WebhookServiceService, new InProcessChannel(service.registry));
    for (const path of PATHS) {
      const ordering = path === '/ordered' ? 'conversation' : 'none';
      await api.createEndpoint(
        endpointRequest(sink.url + path, { ordering, maxConcurrency: 8 }),
        callOf(admin),
      );
    }
    await log.close();
    await pool.end();
  }
});

const PATHS = ['/plain', '/flaky', '/ordered'];
