import { join } from 'node:path';
import { Client } from 'pg';
import { createTestDatabase } from '../src/test-database';

const migrationsFolder = join(__dirname, 'fixtures/migrations');
const ORGANIZATION = '0192f0c4-0000-7000-8000-000000000001';

async function query(url: string, ...statements: string[]): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    let rows: unknown[] = [];
    for (const statement of statements) rows = (await client.query(statement)).rows;
    return rows;
  } finally {
    await client.end();
  }
}

describe('createTestDatabase', () => {
  it('gives every caller a migrated database of its own', async () => {
    const databases = await Promise.all(
      Array.from({ length: 4 }, () => createTestDatabase({ name: 'sample', migrationsFolder })),
    );
    await query(databases[0]!.adminUrl, `insert into note values ('${ORGANIZATION}', 1)`);
    const counts = await Promise.all(
      databases.map((database) => query(database.adminUrl, 'select count(*)::int as n from note')),
    );
    expect(counts).toEqual([[{ n: 1 }], [{ n: 0 }], [{ n: 0 }], [{ n: 0 }]]);
    await Promise.all(databases.map((database) => database.drop()));
  });

  it('connects as a role for which row-level security holds', async () => {
    const database = await createTestDatabase({ name: 'sample', migrationsFolder });
    await query(database.adminUrl, `insert into note values ('${ORGANIZATION}', 1)`);
    expect(await query(database.url, 'select * from note')).toEqual([]);
    const visible = await query(
      database.url,
      `set app.organization_id = '${ORGANIZATION}'`,
      'select id from note',
    );
    expect(visible).toEqual([{ id: 1 }]);
    await database.drop();
  });

  it('leaves no database behind after drop', async () => {
    const database = await createTestDatabase({ name: 'sample', migrationsFolder });
    await database.drop();
    await expect(query(database.url, 'select 1')).rejects.toThrow('does not exist');
  });
});
