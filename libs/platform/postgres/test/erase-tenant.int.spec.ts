import { join } from 'node:path';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '@dak/testing/database';
import { Database, eraseTenant } from '../src/index';

const ONE = '018f0000-0000-7000-8000-000000000001';
const TWO = '018f0000-0000-7000-8000-000000000002';

describe('the erasure of a tenant', () => {
  let test: TestDatabase;
  let database: Database;
  let admin: pg.Client;
  beforeAll(async () => {
    test = await createTestDatabase({
      name: 'platform',
      migrationsFolder: join(__dirname, 'migrations'),
    });
    database = new Database({
      url: test.url,
      applicationName: 'test',
      maxConnections: 2,
      statementTimeoutMs: 200,
    });
    admin = new pg.Client({ connectionString: test.adminUrl });
    await admin.connect();
  });
  afterAll(async () => {
    await admin.end();
    await database.close();
    await test.drop();
  });

  const rowsOf = async (table: string) => {
    const { rows } = await admin.query<{ organization_id: string }>(
      `select distinct organization_id from ${table}`,
    );
    return rows.map(({ organization_id: id }) => id);
  };
  const makeTable = (definition: string, name: string) =>
    admin.query(`create table ${name} (${definition});
      grant select, delete on ${name} to public;
      alter table ${name} enable row level security;
      create policy tenant on ${name} using (organization_id = dak_tenant())`);

  it('ends although more rows than one batch refer to each other', async () => {
    await makeTable(
      `organization_id uuid, id integer, parent_id integer, primary key (organization_id, id),
       foreign key (organization_id, parent_id) references child`,
      'child',
    );
    for (const organization of [ONE, TWO]) {
      await admin.query(
        `insert into child select $1, n, nullif(n - 1, 0) from generate_series(1, 2500) n`,
        [organization],
      );
    }
    const erased = await eraseTenant(database, { organizationId: ONE, budgetMs: 20_000 });
    expect(erased).toEqual({ rows: 2_500, more: false });
    expect(await rowsOf('child')).toEqual([TWO]);
  });

  it('ends although a statement takes longer than requests may', async () => {
    await makeTable('organization_id uuid, id integer', 'slow');
    await admin.query(
      `insert into slow values ('${ONE}', 1);
       create function dawdle() returns trigger language plpgsql as $$ begin perform pg_sleep(0.5); return old; end $$;
       create trigger dawdle before delete on slow for each row execute function dawdle()`,
    );
    const erased = await eraseTenant(database, { organizationId: ONE, budgetMs: 20_000 });
    expect(erased).toEqual({ rows: 1, more: false });
  });
});
