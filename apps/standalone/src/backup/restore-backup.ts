import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { InvalidError, RefusedError } from '@dak/kernel';
import { DATABASES, lockDataFolder, migrateAll } from '@dak/platform/deployment';
import { startEmbeddedPostgres } from '@dak/platform/embedded-postgres';
import { applyMigrations } from '@dak/platform/migrations';
import { beginIn, endIn, isUnderWay } from './backup-folder';
import { copyBlobs, eachOf, parseBlobList, type BlobEntry } from './copy-blobs';
import { loadDatabase } from './load-database';
import { BLOB_LIST, SECRETS, damaged, readManifest, type Manifest } from './manifest';
import { reporter } from './reporter';
import { restoreAcceptances } from './sent-since';
import { checkFile, measureFile } from './stored-file';

export interface RestoreBackupOptions {
  /** Folder of the backup. */
  folder: string;
  /** Absent, empty, or left unfinished by an earlier run. */
  dataDir: string;
  /** Administrator URL of a cluster without Dak databases; absent = the embedded PostgreSQL. */
  adminUrl: string | undefined;
  /** Folder with one of each database, `dist/migrations`. */
  migrations: string;
  progress: (sentence: string) => void;
}

export interface RestoreSummary {
  data_dir: string;
  moment: string;
  rows: number;
  blobs: number;
  outgoing: 'hold';
  seconds: number;
}

/** What the lock of the folder and PostgreSQL's own files are called, which a repetition keeps. */
const KEPT = ['dak.lock', 'postgres'];
/** Suffix of a database that is not complete yet; all are renamed once the last one is. */
const UNFINISHED = '_restoring';

/**
 * Makes a data folder and databases of a backup, once all of the backup has proved to be as it was written. Outgoing mail
 * is held: what was queued at the moment may have left since.
 * @throws DomainError with one sentence, before anything is changed, when the backup is damaged or of a newer version or
 *   when the data folder or the databases are not empty
 */
export async function restoreBackup(options: RestoreBackupOptions): Promise<RestoreSummary> {
  const begun = performance.now();
  const { folder, progress } = options;
  const dataDir = resolve(options.dataDir);
  refuseFullFolder(dataDir);
  const manifest = readManifest(folder);
  refuseUnknownMigrations(manifest, options.migrations);
  const blobs = await check(folder, manifest, progress);
  if (options.adminUrl !== undefined) await refuseFullDatabases(options.adminUrl);

  const lock = lockDataFolder(dataDir);
  try {
    const isRepeated = isUnderWay(dataDir);
    beginIn(dataDir, { what: 'a restore', keep: KEPT });
    const postgres =
      options.adminUrl === undefined ? await startEmbeddedPostgres(dataDir) : undefined;
    const adminUrl = options.adminUrl ?? postgres!.adminUrl;
    try {
      await restoreDatabases(
        { ...options, adminUrl },
        manifest,
        isRepeated && postgres !== undefined,
      );
      await restoreFiles(options, dataDir, manifest, blobs);
      await withClient(databaseUrl(adminUrl, 'dak_mail'), (mail) =>
        restoreAcceptances(mail, folder, journalsIn(manifest), dataDir),
      );
      await migrateAll({ adminUrl, migrations: options.migrations });
      await holdOutgoing(adminUrl);
    } finally {
      await postgres?.stop();
    }
    endIn(dataDir);
  } finally {
    lock.release();
  }
  const tables = Object.values(manifest.databases).flatMap((database) => database.tables);
  return {
    data_dir: dataDir,
    moment: manifest.moment,
    rows: tables.reduce((sum, table) => sum + table.rows, 0),
    blobs: blobs.length,
    outgoing: 'hold',
    seconds: Math.round(performance.now() - begun) / 1000,
  };
}

function refuseFullFolder(dataDir: string): void {
  if (!existsSync(dataDir) || isUnderWay(dataDir)) return;
  const found = readdirSync(dataDir).filter((name) => name !== 'dak.lock');
  if (found.length === 0) return;
  throw new RefusedError(
    `${dataDir} is not empty: set DAK_DATA_DIR to an empty folder, or move that one away.`,
    'folder_not_empty',
  );
}

function refuseUnknownMigrations({ databases, dak_version }: Manifest, folder: string): void {
  for (const database of DATABASES) {
    for (const { name, checksum } of databases[database].migrations) {
      const file = join(folder, database, name, 'migration.sql');
      const known =
        existsSync(file) && createHash('sha256').update(readFileSync(file)).digest('hex');
      if (known === checksum) continue;
      throw new InvalidError(
        `The backup was made by another version of Dak, ${dak_version} with the migration ${name}: restore it with that version.`,
        'backup_of_another_version',
      );
    }
  }
}

/** Reads all of the backup before anything of it is used. @returns its blobs */
async function check(
  folder: string,
  manifest: Manifest,
  progress: RestoreBackupOptions['progress'],
): Promise<BlobEntry[]> {
  const meter = reporter('checked: ', progress);
  await eachOf(manifest.files, async (file) => {
    await checkFile(folder, file);
    meter.add(file.bytes);
  });
  const blobs = parseBlobList(readFileSync(join(folder, BLOB_LIST), 'utf8'), BLOB_LIST);
  if (blobs.length !== manifest.blobs.count) throw damaged(BLOB_LIST);
  await eachOf(blobs, async ({ path, bytes }) => {
    const found = await measureFile(join(folder, 'blobs', path));
    if (found.bytes !== bytes || !path.endsWith(found.sha256)) throw damaged(`blobs/${path}`);
    meter.add(bytes);
  });
  meter.end();
  return blobs;
}

/** Recreates a database; an existing one must have no tables. */
async function refuseFullDatabases(adminUrl: string): Promise<void> {
  for (const name of await present(adminUrl)) {
    const tables = await withClient(databaseUrl(adminUrl, name), async (client) => {
      const { rowCount } = await client.query(
        `select from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') limit 1`,
      );
      return rowCount ?? 0;
    });
    if (tables === 0) continue;
    throw new RefusedError(
      `The database ${name} is not empty: restore into a PostgreSQL without databases of Dak, or drop them first.`,
      'database_not_empty',
    );
  }
}

function present(adminUrl: string): Promise<string[]> {
  return withClient(adminUrl, async (admin) => {
    const { rows } = await admin.query<{ datname: string }>(
      'select datname from pg_database where datname = any($1)',
      [DATABASES.map((name) => `dak_${name}`)],
    );
    return rows.map(({ datname }) => datname);
  });
}

/** @param drop whether databases of an earlier run that were whole already are made again */
async function restoreDatabases(
  { adminUrl, folder, migrations, progress }: RestoreBackupOptions & { adminUrl: string },
  manifest: Manifest,
  drop: boolean,
): Promise<void> {
  if (!drop) await refuseFullDatabases(adminUrl);
  await withClient(adminUrl, async (admin) => {
    for (const name of DATABASES) {
      await admin.query(`drop database if exists dak_${name}`);
      await admin.query(`drop database if exists dak_${name}${UNFINISHED}`);
    }
  });
  for (const name of DATABASES) {
    const content = manifest.databases[name];
    const database = `dak_${name}${UNFINISHED}`;
    await applyMigrations({
      ...{ adminUrl, database, role: `dak_${name}` },
      folder: join(migrations, name),
      only: content.migrations.map((migration) => migration.name),
    });
    const meter = reporter(`database ${name}: `, progress);
    await withClient(databaseUrl(adminUrl, database), (client) =>
      loadDatabase(client, content, folder, meter.add),
    );
    meter.end();
  }
  await withClient(adminUrl, async (admin) => {
    for (const name of DATABASES) {
      await admin.query(`alter database dak_${name}${UNFINISHED} rename to dak_${name}`);
    }
  });
}

async function restoreFiles(
  { folder, progress }: RestoreBackupOptions,
  dataDir: string,
  manifest: Manifest,
  blobs: readonly BlobEntry[],
): Promise<void> {
  if (manifest.files.some(({ path }) => path === SECRETS)) {
    copyFileSync(join(folder, SECRETS), join(dataDir, 'secrets.json'));
  }
  const meter = reporter('blobs: ', progress);
  await copyBlobs({
    from: join(folder, 'blobs'),
    to: join(dataDir, 'blobs'),
    paths: blobs.map(({ path }) => path),
    onDamaged: (path) => {
      throw damaged(`blobs/${path}`);
    },
    progress: (_, bytes) => meter.add(bytes),
  });
  meter.end();
}

function journalsIn({ files }: Manifest): string[] {
  return files.map(({ path }) => path).filter((path) => path.endsWith('/deliveries.journal'));
}

/** Sets the switch in the gateway and in the mail service, so that nothing is sent before the gateway has announced it. */
async function holdOutgoing(adminUrl: string): Promise<void> {
  const version = await withClient(databaseUrl(adminUrl, 'dak_gateway'), async (gateway) => {
    const { rows } = await gateway.query<{ version: string }>(
      `update operations
          set outgoing = 'hold', version = version + 1, updated_at = now()
    returning version`,
    );
    return rows[0]!.version;
  });
  await withClient(databaseUrl(adminUrl, 'dak_mail'), (mail) =>
    mail.query(
      `update operations set outgoing = 'hold', version = greatest(version, $1), updated_at = now()`,
      [version],
    ),
  );
}

function databaseUrl(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.toString();
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'dak restore' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
