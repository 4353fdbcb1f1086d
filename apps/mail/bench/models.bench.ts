import { join } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import { uuidv7 } from '@dak/kernel';
import { Database } from '@dak/platform/postgres';
import { createTestDatabase } from '@dak/testing/database';
import { createModels } from '../src/db/models';
import { PrismaClient } from '../src/generated/prisma/client';

const ROUNDS = 7;
const CALLS = 300;
const FINDS = 10;
const SELECT = `select organization_id, id, name, color, description, created_at, updated_at from label`;

/** Microseconds per call, the quickest of {@link ROUNDS} in turns: a label by id and a list of 50, by SQL and by models. */
async function measureModels(): Promise<Record<string, number>> {
  const test = await createTestDatabase({
    name: 'mail',
    migrationsFolder: join(__dirname, '../prisma/migrations'),
  });
  const database = new Database({ url: test.url, applicationName: 'models-bench' });
  const models = createModels(database);
  // As Prisma works without `Models`: it begins and ends its transactions over the same pool.
  const alone = new PrismaClient({ adapter: new PrismaPg(database.pool) });
  const organizationId = uuidv7();
  const ids = Array.from({ length: 50 }, () => uuidv7());
  const at = new Date();
  await models.inTenant(organizationId, ({ db }) =>
    db.label.createMany({
      data: ids.map((id) => ({ organizationId, id, name: id, createdAt: at, updatedAt: at })),
    }),
  );
  const byId = { where: { organizationId_id: { organizationId, id: ids[0]! } } };
  const all = { where: { organizationId }, orderBy: { name: 'asc' as const } };
  const one = [
    `${SELECT} where organization_id = $1 and id = $2`,
    [organizationId, ids[0]!],
  ] as const;
  const list = [`${SELECT} where organization_id = $1 order by name`, [organizationId]] as const;
  const times = async (work: () => Promise<unknown>): Promise<void> => {
    for (let n = 0; n < FINDS; n += 1) await work();
  };
  const inPrisma = (work: (db: Pick<PrismaClient, 'label'>) => Promise<unknown>) =>
    alone.$transaction(async (db) => {
      await db.$queryRaw`select set_config('dak.organization_id', ${organizationId}, true)`;
      await work(db);
    });
  const cases: Record<string, () => Promise<unknown>> = {
    'one by SQL': () => database.inTenant(organizationId, (tx) => tx.query(...one)),
    'one by models': () => models.inTenant(organizationId, ({ db }) => db.label.findUnique(byId)),
    'one by Prisma alone': () => inPrisma((db) => db.label.findUnique(byId)),
    'ten by SQL': () => database.inTenant(organizationId, (tx) => times(() => tx.query(...one))),
    'ten by models': () =>
      models.inTenant(organizationId, ({ db }) => times(() => db.label.findUnique(byId))),
    'ten by Prisma alone': () => inPrisma((db) => times(() => db.label.findUnique(byId))),
    'list of 50 by SQL': () => database.inTenant(organizationId, (tx) => tx.query(...list)),
    'list of 50 by models': () =>
      models.inTenant(organizationId, ({ db }) => db.label.findMany(all)),
    'list of 50 by Prisma alone': () => inPrisma((db) => db.label.findMany(all)),
  };
  const rounds = new Map(Object.keys(cases).map((name) => [name, [] as number[]]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, call] of Object.entries(cases)) {
      const begun = performance.now();
      for (let n = 0; n < CALLS; n += 1) await call();
      // The first round warms up.
      if (round > 0) rounds.get(name)!.push(((performance.now() - begun) * 1000) / CALLS);
    }
  }
  await database.close();
  await test.drop();
  return Object.fromEntries([...rounds].map(([name, of]) => [name, Math.round(Math.min(...of))]));
}

if (require.main === module) {
  void measureModels().then((result) =>
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`),
  );
}
