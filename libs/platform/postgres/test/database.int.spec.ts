import { join } from 'node:path';
import pg from 'pg';
import { UnavailableError } from '@dak/kernel';
import { createTestDatabase, type TestDatabase } from '@dak/testing/database';
import { eventually } from '@dak/testing/waiting';
import { Database, isUniqueViolation } from '../src/index';

const ONE = '018f0000-0000-7000-8000-000000000001';
const TWO = '018f0000-0000-7000-8000-000000000002';
const migrationsFolder = join(__dirname, 'migrations');

describe('Database', () => {
  let test: TestDatabase;
  let database: Database;

  beforeAll(async () => {
    test = await createTestDatabase({ name: 'platform', migrationsFolder });
    database = new Database({ url: test.url, applicationName: 'test', maxConnections: 4 });
  });
  afterAll(async () => {
    await database.close();
    await test.drop();
  });

  const insert = (organization: string, id: number) =>
    database.inTenant(organization, (tx) =>
      tx.query('insert into thing values ($1, $2, $3, $4, $5)', [
        organization,
        id,
        `thing ${id}`,
        '2026-01-02T03:04:05.678Z',
        2 ** 40,
      ]),
    );
  const select = (organization: string) => ({
    name: 'things',
    text: 'select id, at, size from thing where organization_id = $1 order by id',
    values: [organization],
  });

  it('shows a tenant its rows, and a query without or with another tenant none', async () => {
    await insert(ONE, 1);
    await insert(TWO, 1);
    const own = await database.inTenant(ONE, (tx) => tx.query('select id from thing'));
    expect(own.rows).toHaveLength(1);
    const [foreign] = await database.batchInTenant(TWO, [select(ONE)]);
    expect(foreign).toEqual([]);
    const none = await database.pool.query('select * from thing');
    expect(none.rows).toEqual([]);
    const worker = await database.asWorker((tx) => tx.query('select * from thing'));
    expect(worker.rows).toEqual([]);
  });

  it('reads the rows of a statement that its connection has run before as it read the first', async () => {
    const one = new Database({ url: test.url, applicationName: 'one', maxConnections: 1 });
    const change = {
      name: 'rename',
      text: 'update thing set name = $2 where id = $1',
      values: [1, 'named'],
    };
    try {
      const runs = [];
      for (let run = 0; run < 3; run += 1) {
        runs.push(await one.batchInTenant(ONE, [change, select(ONE), select(TWO)]));
      }
      const row = { id: 1, at: '2026-01-02T03:04:05.678Z', size: 2 ** 40 };
      expect(runs).toEqual([1, 2, 3].map(() => [[], [row], []]));
    } finally {
      await one.close();
    }
  });

  it('fails in words when a table has changed under a statement that is known', async () => {
    const one = new Database({ url: test.url, applicationName: 'one', maxConnections: 1 });
    const admin = new pg.Client({ connectionString: test.adminUrl });
    await admin.connect();
    const statement = { name: 'all_changing', text: 'select * from changing', values: [] };
    try {
      await admin.query(
        'create table changing (a text); grant select on changing to public; insert into changing values (1)',
      );
      expect(await one.batchInTenant(ONE, [statement])).toEqual([[{ a: '1' }]]);
      await admin.query('alter table changing add column b integer not null default 2');
      await expect(one.batchInTenant(ONE, [statement])).rejects.toThrow(
        'must not change result type',
      );
    } finally {
      await one.close();
      await admin.end();
    }
  });

  it('refuses to write a row of another tenant', async () => {
    const foreign = database.inTenant(ONE, (tx) =>
      tx.query('insert into thing (organization_id, id) values ($1, 99)', [TWO]),
    );
    await expect(foreign).rejects.toThrow('row-level security');
  });

  it('forgets the tenant with the transaction, also on a pooled connection', async () => {
    await database.batchInTenant(ONE, [select(ONE)]);
    const { rows } = await database.pool.query(
      `select current_setting('dak.organization_id', true) as v`,
    );
    expect((rows[0] as { v: string | null }).v ?? '').toBe('');
  });

  it('answers several statements in one round trip, times as RFC 3339, counts as numbers', async () => {
    const [rows, count] = await database.batchInTenant(ONE, [
      select(ONE),
      { name: 'count', text: 'select count(*) as n from thing', values: [] },
    ]);
    expect(rows).toEqual([{ id: 1, at: '2026-01-02T03:04:05.678Z', size: 2 ** 40 }]);
    expect(count).toEqual([{ n: 1 }]);
  });

  it('keeps working on the same connection after a failed statement', async () => {
    const broken = { name: 'broken', text: 'select 1/0', values: [] };
    for (let i = 0; i < 10; i += 1) {
      await expect(database.batchInTenant(ONE, [select(ONE), broken])).rejects.toThrow(
        'division by zero',
      );
      const [rows] = await database.batchInTenant(ONE, [select(ONE)]);
      expect(rows).toHaveLength(1);
    }
    expect(database.pool.totalCount).toBeLessThanOrEqual(4);
  });

  it('runs many at once without mixing tenants', async () => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => {
        const organization = i % 2 ? ONE : TWO;
        return database.batchInTenant(organization, [
          { name: 'who', text: 'select organization_id from thing', values: [] },
        ]);
      }),
    );
    answers.forEach(([rows], i) => expect(rows).toEqual([{ organization_id: i % 2 ? ONE : TWO }]));
  });

  it('rolls back on error and runs effects only after the commit', async () => {
    const effects: string[] = [];
    const failing = database.inTenant(ONE, async (tx) => {
      tx.afterCommit(() => effects.push('lost'));
      await tx.query(`insert into thing (organization_id, id) values ('${ONE}', 50)`);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await database.inTenant(ONE, async (tx) => tx.afterCommit(() => effects.push('done')));
    expect(effects).toEqual(['done']);
    const { rows } = await database.inTenant(ONE, (tx) =>
      tx.query('select 1 from thing where id = 50'),
    );
    expect(rows).toEqual([]);
  });

  it('signals once per commit, and not what was rolled back', async () => {
    const heard: string[] = [];
    const unlisten = database.onSignal('thing', () => heard.push('thing'));
    await database.inTenant(ONE, async (tx) => {
      tx.signal('thing');
      tx.signal('thing');
      tx.signal('other');
      expect(heard).toEqual([]);
    });
    expect(heard).toEqual(['thing']);
    const failing = database.inTenant(ONE, async (tx) => {
      tx.signal('thing');
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    unlisten();
    await database.asWorker(async (tx) => tx.signal('thing'));
    expect(heard).toEqual(['thing']);
  });

  it('runs statements that do not wait for each other in their order', async () => {
    await database.inTenant(ONE, async (tx) => {
      const [, before, , after] = await Promise.all([
        tx.query('insert into thing (organization_id, id) values ($1, 70)', [ONE]),
        tx.query<{ id: number }>('select id from thing where id >= 70 order by id'),
        tx.query('insert into thing (organization_id, id) values ($1, 71)', [ONE]),
        tx.query<{ id: number }>('select id from thing where id >= 70 order by id'),
      ]);
      expect(before.rows).toEqual([{ id: 70 }]);
      expect(after.rows).toEqual([{ id: 70 }, { id: 71 }]);
    });
  });

  it('keeps nothing of a transaction of which one statement failed, whatever ran beside it', async () => {
    const add = (id: number) =>
      ['insert into thing (organization_id, id) values ($1, $2)', [ONE, id]] as const;
    const late: Promise<unknown>[] = [];
    const failing = database.inTenant(ONE, async (tx) => {
      await Promise.all([
        tx.query(...add(80)),
        tx.query('select 1/0').catch((error: unknown) => {
          late.push(tx.query(...add(82)).catch((again: unknown) => again));
          throw error;
        }),
        tx.query(...add(81)),
      ]);
    });
    await expect(failing).rejects.toThrow('division by zero');
    expect(await Promise.all(late)).toEqual([
      expect.objectContaining({ message: 'division by zero' }),
    ]);
    const { rows } = await database.inTenant(ONE, (tx) =>
      tx.query('select id from thing where id between 80 and 82'),
    );
    expect(rows).toEqual([]);
  });

  it('repeats a transaction that met a deadlock', async () => {
    await insert(ONE, 10);
    await insert(ONE, 11);
    let attempts = 0;
    let locked = 0;
    const cross = (first: number, second: number) =>
      database.inTenant(ONE, async (tx) => {
        attempts += 1;
        await tx.query('update thing set name = $1 where id = $2', ['x', first]);
        locked += 1;
        // Both have their first row before either asks for the other's.
        await eventually(() => locked > 1);
        await tx.query('update thing set name = $1 where id = $2', ['y', second]);
      });
    await Promise.all([cross(10, 11), cross(11, 10)]);
    expect(attempts).toBeGreaterThan(2);
  });

  it('survives a connection that the server ends between two statements', async () => {
    const cut = database.inTenant(ONE, async (tx) => {
      const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
      await database.pool.query('select pg_terminate_backend($1)', [rows[0]!.pid]);
      await eventually(async () => {
        const { rowCount } = await database.pool.query(
          'select from pg_stat_activity where pid = $1',
          [rows[0]!.pid],
        );
        return rowCount === 0;
      });
      await tx.query('select 1');
    });
    await expect(cut).rejects.toThrow();
    const [rows] = await database.batchInTenant(ONE, [select(ONE)]);
    expect(rows).not.toHaveLength(0);
  });

  it('lets go of the locks of a process that stops in the middle of a transaction', async () => {
    const lock = `select pg_advisory_xact_lock(hashtext('stopped in the middle'))`;
    let thaw = (): void => undefined;
    const frozen = new Promise<void>((resolve) => (thaw = resolve));
    let begun = (): void => undefined;
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    const stopped = database.inTenant(ONE, async (tx) => {
      await tx.query(lock);
      begun();
      await frozen;
      await tx.query('select 1');
    });
    const outcome = expect(stopped).rejects.toBeInstanceOf(UnavailableError);
    await hasBegun;
    const before = performance.now();
    await database.inTenant(TWO, (tx) => tx.query(lock));
    expect(performance.now() - before).toBeLessThan(8_000);
    thaw();
    await outcome;
  });

  it('names a unique violation', async () => {
    const error = await insert(ONE, 1).catch((e: unknown) => e);
    expect(isUniqueViolation(error)).toBe(true);
    expect(isUniqueViolation(error, 'thing_pkey')).toBe(true);
    expect(isUniqueViolation(error, 'other')).toBe(false);
  });
});
