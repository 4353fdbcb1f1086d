import { connect, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { UnavailableError } from '@dak/kernel';
import { Registry } from 'prom-client';
import { createTestDatabase, type TestDatabase } from '@dak/testing/database';
import { eventually } from '@dak/testing/waiting';
import { Database } from '../src/index';

const ORGANIZATION = '018f0000-0000-7000-8000-000000000001';

/** A proxy before the server; frozen, it accepts connections and data but sends nothing. */
class Passage {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #isFrozen = false;

  constructor(target: { host: string; port: number }) {
    this.#server = createServer((client) => {
      const server = connect(target);
      for (const socket of [client, server]) {
        this.#sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => this.#sockets.delete(socket));
        if (this.#isFrozen) socket.pause();
      }
      client.on('data', (chunk) => server.write(chunk));
      server.on('data', (chunk) => client.write(chunk));
      client.on('close', () => server.destroy());
      server.on('close', () => client.destroy());
      if (this.#isFrozen) for (const socket of [client, server]) socket.pause();
    });
  }

  listen(): Promise<number> {
    return new Promise((resolve) => {
      this.#server.listen(0, '127.0.0.1', () =>
        resolve((this.#server.address() as AddressInfo).port),
      );
    });
  }

  freeze(isFrozen: boolean): void {
    this.#isFrozen = isFrozen;
    for (const socket of this.#sockets) {
      if (isFrozen) socket.pause();
      else socket.resume();
    }
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

describe('a server that says nothing any more', () => {
  let test: TestDatabase;
  let passage: Passage;
  let database: Database;
  const metrics = new Registry();

  beforeAll(async () => {
    test = await createTestDatabase({
      name: 'platform',
      migrationsFolder: join(__dirname, 'migrations'),
    });
    const url = new URL(test.url);
    passage = new Passage({ host: url.hostname, port: Number(url.port || 5432) });
    url.hostname = '127.0.0.1';
    url.port = String(await passage.listen());
    database = new Database({
      url: url.toString(),
      applicationName: 'test',
      maxConnections: 3,
      statementTimeoutMs: 6_000,
      metrics,
    });
  });
  afterAll(async () => {
    passage.freeze(false);
    await database.close();
    await passage.close();
    await test.drop();
  });

  const ask = (text = 'select 1 as one') =>
    database.inTenant(ORGANIZATION, async (tx) => (await tx.query(text)).rows);
  const timed = async (work: () => Promise<unknown>): Promise<[error: unknown, ms: number]> => {
    const begun = performance.now();
    const error = await work().then(
      () => null,
      (reason: unknown) => reason,
    );
    return [error, performance.now() - begun];
  };

  it('is told from a statement that takes its time', async () => {
    expect(await ask('select 1 as one from pg_sleep(4)')).toEqual([{ one: 1 }]);
  }, 20_000);

  it('fails what waits within ten seconds and what comes then at once, and is found again', async () => {
    await Promise.all([ask(), ask(), ask()]);
    passage.freeze(true);
    const first = await Promise.all([
      timed(() => ask()),
      timed(() =>
        database.batchInTenant(ORGANIZATION, [{ name: 'x', text: 'select 1', values: [] }]),
      ),
      timed(() => database.ping()),
      timed(() => ask()),
      timed(() => database.whileHere(() => database.pool.query('select 1'))),
    ]);
    for (const [error, ms] of first) {
      expect(error).toBeInstanceOf(UnavailableError);
      expect(ms).toBeLessThan(9_500);
    }
    const [error, ms] = await timed(() => ask());
    expect(error).toBeInstanceOf(UnavailableError);
    expect(ms).toBeLessThan(500);

    passage.freeze(false);
    const isBack = async () => (await timed(() => ask()))[0] === null;
    await eventually('the server is found again', isBack, 15_000);
  }, 60_000);

  it('a statement that takes too long is ended, which is no fault of the request', async () => {
    const [error] = await timed(() => ask('select pg_sleep(20)'));
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error).toMatchObject({ retryAfterSeconds: 5 });
    const longer = database.inTenant(
      ORGANIZATION,
      async (tx) => (await tx.query('select 1 as one from pg_sleep(7)')).rows,
      { statementTimeoutMs: 20_000 },
    );
    expect(await longer).toEqual([{ one: 1 }]);
  }, 60_000);

  it('counts those who wait for a connection', async () => {
    const busy = [1, 2, 3].map(() => ask('select pg_sleep(0.5)'));
    const waiting = ask();
    const text = await eventually(async () => {
      const shown = await metrics.metrics();
      return shown.includes('dak_postgres_pool_waiting{pool="test"} 1') && shown;
    });
    expect(text).toContain('dak_postgres_pool_connections{pool="test"} 3');
    await Promise.all([...busy, waiting]);
    expect(await metrics.metrics()).toMatch(
      /dak_postgres_pool_wait_seconds_count\{pool="test"\} [1-9]/,
    );
  });
});
