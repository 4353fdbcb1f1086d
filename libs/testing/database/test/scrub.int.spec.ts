import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startCluster, type RunServer } from '../src';
import { embeddedBinaries, scrubDatabases, systemBinaries } from '@dak/platform/embedded-postgres';

const SECRET = 'zacharias.quill@person.example';

describe('scrubbing of a cluster', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dak-scrub-'));
  let server: RunServer;
  let url = '';
  let client: pg.Client;
  const scrub = () => scrubDatabases(url, ['postgres'], { isOurs: true });
  const filesWithSecret = () =>
    readdirSync(join(folder, 'cluster/data'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== 'postmaster.pid')
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => readFileSync(path).includes(SECRET));
  const placeOf = async (table: string) => {
    const { rows } = await client.query<{ place: string }>(
      'select pg_relation_filepath($1::regclass) as place',
      [table],
    );
    return rows[0]!.place;
  };

  beforeAll(async () => {
    chmodSync(folder, 0o711);
    server = await startCluster(folder, (systemBinaries() ?? embeddedBinaries())!);
    url = server.details['adminUrl']!;
    client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(`
      create table aged (note text); create table person (note text); create table young (note text);
      insert into person select $$${SECRET} $$ || n from generate_series(1, 2000) as n;
      create index on person (note); analyze person; checkpoint; delete from person`);
  }, 60_000);
  afterAll(async () => {
    await client.end();
    process.kill(server.pid, 'SIGQUIT');
    rmSync(folder, { recursive: true, force: true });
  });

  it('says which table is held, before it has rewritten any', async () => {
    const reader = new pg.Client({ connectionString: url });
    await reader.connect();
    await reader.query('begin; lock table person in access share mode');
    const places = await Promise.all(['aged', 'young'].map(placeOf));
    await expect(scrub()).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('The table person is held'),
    });
    expect(await Promise.all(['aged', 'young'].map(placeOf))).toEqual(places);
    await reader.end();
  }, 60_000);

  it('leaves nothing of deleted rows in tables and write-ahead log, and no setting behind', async () => {
    expect(filesWithSecret().length).toBeGreaterThan(1);
    await scrub();
    expect(filesWithSecret()).toEqual([]);
    const { rows } = await client.query(
      `select name from pg_file_settings where sourcefile like '%postgresql.auto.conf'`,
    );
    expect(rows).toEqual([]);
  }, 120_000);
});
