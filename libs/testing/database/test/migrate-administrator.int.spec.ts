import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { DATABASES, type DatabaseName } from '@dak/platform/deployment';
import {
  embeddedBinaries,
  systemBinaries,
  type PostgresBinaries,
} from '@dak/platform/embedded-postgres';
import { applyMigrations } from '@dak/platform/migrations';
import { eventually } from '@dak/testing/waiting';
import { isAlive, migrationsFolderOf, startCluster, type RunServer } from '../src/index';

const FOLDERS = Object.fromEntries(
  DATABASES.map((name) => [`dak_${name}`, migrationsFolderOf(name)]),
) as Record<`dak_${DatabaseName}`, string>;

/** Rules about membership in roles differ between PostgreSQL 15 and those from 16 on. */
const SERVERS = ([embeddedBinaries(), systemBinaries()] as const).filter(
  (binaries): binaries is PostgresBinaries => binaries !== null,
);

async function query<Row extends object>(url: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

describe.each(SERVERS)('an administrator who is no superuser, on $bin', (binaries) => {
  const folder = mkdtempSync(join(tmpdir(), 'dak-administrator-'));
  let server: RunServer;
  const urlOf = (user: string, password: string): string => {
    const url = new URL(server.details['adminUrl']!);
    return Object.assign(url, { username: user, password }).toString();
  };
  const migrateAll = async (adminUrl: string, folders: Record<string, string> = FOLDERS) => {
    const reports: Record<string, { applied: string[]; url: string }> = {};
    for (const [name, path] of Object.entries(folders)) {
      const target = { adminUrl, database: name, role: name, folder: path };
      reports[name] = await applyMigrations(target);
    }
    return reports;
  };

  beforeAll(async () => {
    chmodSync(folder, 0o711);
    server = await startCluster(folder, binaries);
    await query(
      server.details['adminUrl']!,
      `create role ops login createdb createrole password 'first';
       create role colleague login createdb createrole password 'other'`,
    );
  }, 60_000);
  afterAll(async () => {
    process.kill(server.pid, 'SIGQUIT');
    await eventually(() => !isAlive(server.pid));
    rmSync(folder, { recursive: true, force: true });
  });

  it('migrates, and again with nothing to do, and later what is new', async () => {
    const first = await migrateAll(urlOf('ops', 'first'));
    for (const { applied } of Object.values(first)) expect(applied.length).toBeGreaterThan(0);
    const second = await migrateAll(urlOf('ops', 'first'));
    for (const { applied } of Object.values(second)) expect(applied).toEqual([]);
    for (const { url } of Object.values(second)) await query(url, 'select 1');

    const newer = join(folder, 'newer');
    cpSync(FOLDERS.dak_log, newer, { recursive: true });
    mkdirSync(join(newer, '20990101000000_more'));
    writeFileSync(join(newer, '20990101000000_more/migration.sql'), 'create table more (id int)');
    const third = await migrateAll(urlOf('ops', 'first'), { dak_log: newer });
    expect(third['dak_log']!.applied).toEqual(['20990101000000_more']);
    expect(await query(third['dak_log']!.url, 'select * from more')).toEqual([]);
  }, 60_000);

  it('gives the roles a password anew when its own has changed', async () => {
    await query(server.details['adminUrl']!, `alter role ops password 'second'`);
    const { dak_mail: mail } = await migrateAll(urlOf('ops', 'second'), {
      dak_mail: FOLDERS.dak_mail,
    });
    await query(mail!.url, 'select 1');
  }, 30_000);

  it('leaves the roles without any right that row-level security does not bind', async () => {
    const roles = await query(
      server.details['adminUrl']!,
      `select rolname from pg_roles
        where rolname like 'dak\\_%' and rolname <> 'dak_admin'
          and not (rolsuper or rolcreatedb or rolcreaterole or rolbypassrls) and rolcanlogin`,
    );
    expect(roles).toHaveLength(DATABASES.length);
    // A role with extra rights is corrected where the administrator may do that.
    await query(server.details['adminUrl']!, 'alter role dak_mail createdb');
    await migrateAll(urlOf('ops', 'second'), { dak_mail: FOLDERS.dak_mail });
    const [mail] = await query<{ rolcreatedb: boolean }>(
      server.details['adminUrl']!,
      `select rolcreatedb from pg_roles where rolname = 'dak_mail'`,
    );
    expect(mail).toEqual({ rolcreatedb: false });
  }, 30_000);

  it('says in one sentence what a colleague may not do', async () => {
    const [{ server_version_num: version }] = (await query<{ server_version_num: string }>(
      server.details['adminUrl']!,
      'show server_version_num',
    )) as [{ server_version_num: string }];
    const migrating = migrateAll(urlOf('colleague', 'other'), { dak_mail: FOLDERS.dak_mail });
    // Until PostgreSQL 15 the right to make roles is enough; the database is still the other one's.
    await expect(migrating).rejects.toThrow(
      Number(version) < 160_000 ? /permission denied/ : /may not change the role dak_mail/,
    );
  }, 30_000);
});
