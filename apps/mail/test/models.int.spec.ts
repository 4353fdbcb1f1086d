import { UnavailableError, uuidv7 } from '@dak/kernel';
import { noteAudit } from '@dak/platform/audit';
import { idempotent } from '@dak/platform/idempotency';
import { Database, isUniqueViolation } from '@dak/platform/postgres';
import { createTestDatabase, type TestDatabase } from '@dak/testing/database';
import { openNetworkGate, type NetworkGate } from '@dak/testing/network-gate';
import { eventually } from '@dak/testing/waiting';
import { createModels, type MailModels } from '../src/db/models';
import { contextOf, MIGRATIONS_FOLDER, principal } from './mail-fixtures';

const ONE = uuidv7();
const TWO = uuidv7();

let test: TestDatabase;
let gate: NetworkGate;
let database: Database;
let models: MailModels;

beforeAll(async () => {
  test = await createTestDatabase({ name: 'mail', migrationsFolder: MIGRATIONS_FOLDER });
  const url = new URL(test.url);
  gate = await openNetworkGate({ host: url.hostname, port: Number(url.port || 5432) });
  url.hostname = '127.0.0.1';
  url.port = String(gate.port);
  database = new Database({ url: url.toString(), applicationName: 'test', maxConnections: 3 });
  models = createModels(database);
});
afterAll(async () => {
  await gate.open();
  await database.close();
  await gate.close();
  await test.drop();
});

function label(name: string, organizationId = ONE) {
  const at = new Date('2026-01-02T03:04:05.678Z');
  return { organizationId, id: uuidv7(), name, createdAt: at, updatedAt: at };
}

const keyOf = ({ organizationId, id }: { organizationId: string; id: string }) => ({
  organizationId_id: { organizationId, id },
});

function make(name: string, organizationId = ONE) {
  return models.inTenant(organizationId, ({ db }) =>
    db.label.create({ data: label(name, organizationId) }),
  );
}

/** Resolves for all when `count` wait. */
function barrier(count: number): () => Promise<void> {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  let waiting = 0;
  return () => {
    waiting += 1;
    if (waiting === count) open();
    return opened;
  };
}

describe("models in Database's transactions", () => {
  it('share the connection and the transaction with SQL', async () => {
    const data = label('shared');
    await models.inTenant(ONE, async (tx) => {
      const [created, [connection]] = await Promise.all([
        tx.db.label.create({ data }),
        tx.db.$queryRaw<[{ pid: number }]>`select pg_backend_pid() as pid`,
      ]);
      expect(created).toMatchObject(data);
      const { rows } = await tx.query(
        `update label set color = '#aabbcc' where id = $1 returning created_at, pg_backend_pid() as pid`,
        [data.id],
      );
      expect(rows).toEqual([{ created_at: data.createdAt.toISOString(), ...connection }]);
      const changed = await tx.db.label.findUnique({ where: keyOf(data) });
      expect(changed).toMatchObject({ ...data, color: '#aabbcc' });
    });
    expect(await models.inTenant(ONE, ({ db }) => db.label.count())).toBe(1);
  });

  it('are held to their tenant, also when many ask in the same tick', async () => {
    const own = await make('tenant');
    const foreign = await make('tenant', TWO);
    const find = (organizationId: string, row: typeof own) =>
      models.inTenant(organizationId, ({ db }) => db.label.findUnique({ where: keyOf(row) }));
    const rounds = Array.from({ length: 20 }, () =>
      Promise.all([find(ONE, own), find(TWO, own), find(TWO, foreign), find(ONE, foreign)]),
    );
    for (const found of await Promise.all(rounds)) {
      expect(found.map((row) => row?.id ?? null)).toEqual([own.id, null, foreign.id, null]);
    }
    const written = models.inTenant(ONE, ({ db }) =>
      db.label.create({ data: label('foreign', TWO) }),
    );
    await expect(written).rejects.toThrow('row-level security');
  });

  it('do not work outside of a transaction', async () => {
    const { db } = await models.inTenant(ONE, (tx) => Promise.resolve(tx));
    await expect(db.label.count()).rejects.toThrow();
  });

  it('name a unique violation as SQL does', async () => {
    await make('twice');
    const error = await make('twice').catch((reason: unknown) => reason);
    expect(isUniqueViolation(error, 'label_name')).toBe(true);
    const caught = models.inTenant(ONE, async ({ db }) => {
      const refused: unknown = await db.label
        .create({ data: label('twice') })
        .catch((reason: unknown) => reason);
      return isUniqueViolation(refused);
    });
    await expect(caught).resolves.toBe(true);
  });

  it('are repeated as a whole after a deadlock and after a serialization failure', async () => {
    const [first, second] = [await make('first'), await make('second')];
    let attempts = 0;
    const bothHold = barrier(2);
    const cross = (one: typeof first, other: typeof first, color: string) =>
      models.inTenant(ONE, async ({ db }) => {
        attempts += 1;
        await db.label.update({ where: keyOf(one), data: { color } });
        await bothHold();
        await db.label.update({ where: keyOf(other), data: { color } });
      });
    await Promise.all([cross(first, second, '#000000'), cross(second, first, '#111111')]);
    expect(attempts).toBe(3);

    attempts = 0;
    const made = await models.inTenant(ONE, async ({ db }) => {
      attempts += 1;
      const row = await db.label.create({ data: label('made once') });
      if (attempts < 3) {
        await db.$executeRaw`do $$ begin raise exception using errcode = 'serialization_failure'; end $$`;
      }
      return row;
    });
    expect(attempts).toBe(3);
    const rows = await models.inTenant(ONE, ({ db }) =>
      db.label.findMany({ where: { name: 'made once' } }),
    );
    expect(rows).toEqual([made]);
  });

  it('leave nothing behind when their work fails, and run effects only after the commit', async () => {
    const effects: string[] = [];
    const data = label('undone');
    const undone = models.inTenant(ONE, async (tx) => {
      tx.afterCommit(() => effects.push('lost'));
      await tx.db.label.create({ data });
      throw new Error('undo');
    });
    await expect(undone).rejects.toThrow('undo');
    await models.inTenant(ONE, async (tx) => {
      expect(await tx.db.label.findUnique({ where: keyOf(data) })).toBeNull();
      tx.afterCommit(() => effects.push('done'));
    });
    expect(effects).toEqual(['done']);
  });

  it('commit together with the answer of an Idempotency-Key and the note for the audit log', async () => {
    const caller = principal({ organizationId: ONE });
    const context = contextOf(caller, { route: 'POST /labels', key: uuidv7(), requestHash: 'x' });
    const create = (fails: boolean) =>
      models.inTenant(ONE, (tx) =>
        idempotent(tx, context, async () => {
          const row = await tx.db.label.create({ data: label('once') });
          await noteAudit(tx, context, {
            action: 'label.created',
            target: { type: 'label', id: row.id },
          });
          if (fails) throw new Error('too early');
          return { id: row.id, version: 1, json: Buffer.from('{}'), replayed: false };
        }),
      );
    await expect(create(true)).rejects.toThrow('too early');
    const made = await create(false);
    expect(made.replayed).toBe(false);
    expect(await create(false)).toEqual({ ...made, replayed: true });
    const { rows } = await database.asWorkerOf(ONE, (tx) =>
      tx.query(
        `select count(*) as commits
           from (select xmin::text from label where name = 'once'
                 union select xmin::text from idempotency_record
                 union select xmin::text from outbox) as written`,
      ),
    );
    expect(rows).toEqual([{ commits: 1 }]);
  });

  it('end with their statement timeout', async () => {
    const slow = models.inTenant(ONE, ({ db }) => db.$queryRaw`select pg_sleep(20)::text`, {
      statementTimeoutMs: 100,
    });
    const error: unknown = await slow.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error).toMatchObject({ retryAfterSeconds: 5 });
  });

  it.each([['frozen'], ['cut off']])(
    'fail as SQL does while the server is %s, also in the middle of a transaction',
    async (how) => {
      const errors = async (): Promise<unknown[]> => {
        const work = [
          models.inTenant(ONE, ({ db }) => db.label.count()),
          database.inTenant(ONE, (tx) => tx.query('select count(*) from label')),
        ];
        const settled = await Promise.allSettled(work);
        return settled.map((one) => (one.status === 'rejected' ? one.reason : null));
      };
      const begun = performance.now();
      const midway = models.inTenant(ONE, async ({ db }) => {
        await db.label.count();
        if (how === 'frozen') gate.freeze();
        else await gate.cut();
        await db.label.count();
      });
      const [byModel, bySql] = await Promise.all([
        midway.catch((reason: unknown) => reason),
        eventually('both fail', async () => {
          const [one, other] = await errors();
          return one !== null && other !== null && [one, other];
        }).then(([one, other]) => {
          expect(one).toBeInstanceOf(UnavailableError);
          expect((one as Error).message).toBe((other as Error).message);
          return other;
        }),
      ]);
      expect(byModel).toBeInstanceOf(UnavailableError);
      expect(bySql).toBeInstanceOf(UnavailableError);
      expect(performance.now() - begun).toBeLessThan(9_500);

      await gate.open();
      await eventually(
        'the server is found again',
        async () => (await errors()).every((error) => error === null),
        15_000,
      );
    },
    40_000,
  );
});
