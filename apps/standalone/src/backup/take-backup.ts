import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import pg from 'pg';
import { InvalidError } from '@dak/kernel';
import { BLOB_REMOVAL_LOCK } from '@dak/platform/blobs';
import { DATABASES, type DatabaseName } from '@dak/platform/deployment';
import { beginIn, endIn } from './backup-folder';
import { copyBlobs, listBlobs } from './copy-blobs';
import { countMissing } from './count-missing';
import { dumpDatabase } from './dump-database';
import { BLOB_LIST, writeManifest, type BackupFile, type DatabaseContent } from './manifest';
import { openOneMoment } from './one-moment';
import { reporter } from './reporter';
import { storeSentSince } from './sent-since';
import { storeFile } from './stored-file';

export interface TakeBackupOptions {
  /** Target folder: absent, empty, or left unfinished by an earlier run. */
  folder: string;
  dataDir: string;
  /** Administrator URL of any database of the cluster. */
  adminUrl: string;
  version: string;
  progress: (sentence: string) => void;
}

export interface BackupSummary {
  folder: string;
  moment: string;
  tables: number;
  rows: number;
  blobs: number;
  bytes: number;
  /** Blobs that were left out, because they no longer are what their name says. */
  damaged_blobs: number;
  /** Blobs that records refer to and that are not there. */
  missing_blobs: number;
  seconds: number;
}

/** Of a standalone run's process, or one per mail process. */
const JOURNAL_FOLDER = /^journal(-\d+)?$/;

/**
 * Copies a running Dak as it was at one moment: all rows of all databases, then what does not change (blobs) or may
 * only be newer (what next hops accepted), under the lock that keeps blobs from being removed.
 */
export async function takeBackup(options: TakeBackupOptions): Promise<BackupSummary> {
  const { folder, dataDir, progress } = options;
  const begun = performance.now();
  refuseOtherFolder(dataDir);
  beginIn(folder, { what: 'a backup' });
  await chmod(folder, 0o700);
  const urls = databaseUrls(options.adminUrl);
  const keeper = await keepBlobs(urls.mail);
  const view = await openOneMoment(urls).catch(async (error: unknown) => {
    await keeper.end();
    throw error;
  });
  try {
    progress(`The moment of the backup is ${view.moment}.`);
    const files: BackupFile[] = [];
    const databases = {} as Record<DatabaseName, DatabaseContent>;
    for (const name of DATABASES) {
      const meter = reporter(`database ${name}: `, progress);
      const dumped = await dumpDatabase(view.clients[name], name, folder, meter.add);
      meter.end();
      databases[name] = dumped.content;
      files.push(...dumped.files);
    }
    const blobs = await copyAllBlobs(options, view.clients.mail);
    files.push(blobs.list);
    // Last, so that they know as much as they can; the journals first, which forget what the database knows.
    files.push(...(await copyDataFiles(dataDir, folder)));
    files.push(await storeSentSince(urls.mail, view.moment, folder));
    const { rows } = await view.clients.log.query<{ version: string }>(
      `select current_setting('server_version') as version`,
    );
    writeManifest(folder, {
      dak_version: options.version,
      postgres_version: rows[0]!.version,
      moment: view.moment,
      databases,
      files,
      blobs: { count: blobs.count, bytes: blobs.bytes },
    });
    endIn(folder);
    const tables = Object.values(databases).flatMap((database) => database.tables);
    return {
      folder,
      moment: view.moment,
      tables: tables.length,
      rows: tables.reduce((sum, table) => sum + table.rows, 0),
      blobs: blobs.count,
      bytes: files.reduce((sum, file) => sum + file.bytes, 0) + blobs.bytes,
      damaged_blobs: blobs.damaged,
      missing_blobs: blobs.missing,
      seconds: Math.round(performance.now() - begun) / 1000,
    };
  } finally {
    await view.end();
    await keeper.end();
  }
}

/** @throws InvalidError when no Dak has its data in the folder, whose backup would lack all blobs */
function refuseOtherFolder(dataDir: string): void {
  if (['secrets.json', 'blobs'].some((name) => existsSync(join(dataDir, name)))) return;
  throw new InvalidError(
    `${dataDir} holds no data of Dak: set DAK_DATA_DIR to the folder that has its blobs.`,
    'no_data_folder',
  );
}

/** From before the moment on: what a row refers to then stays until its blob is copied. */
async function keepBlobs(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'dak backup' });
  client.on('error', () => undefined);
  await client.connect();
  await client.query(`select pg_advisory_lock_shared(${BLOB_REMOVAL_LOCK})`);
  return client;
}

function databaseUrls(adminUrl: string): Record<DatabaseName, string> {
  const urls = {} as Record<DatabaseName, string>;
  for (const name of DATABASES) {
    const url = new URL(adminUrl);
    url.pathname = `/dak_${name}`;
    urls[name] = url.toString();
  }
  return urls;
}

/** Keys, and what next hops accepted: newer than the moment at most, which keeps mail from leaving twice. */
async function copyDataFiles(dataDir: string, folder: string): Promise<BackupFile[]> {
  const names = readdirSync(dataDir);
  const journals = names.filter((name) => JOURNAL_FOLDER.test(name)).sort();
  const paths = ['secrets.json', ...journals.map((name) => `${name}/deliveries.journal`)];
  const files: BackupFile[] = [];
  for (const path of paths.filter((name) => existsSync(join(dataDir, name)))) {
    files.push(await storeFile(folder, `data/${path}`, createReadStream(join(dataDir, path))));
  }
  return files;
}

async function copyAllBlobs(
  { folder, dataDir, progress }: TakeBackupOptions,
  mail: pg.Client,
): Promise<{ list: BackupFile; count: number; bytes: number; damaged: number; missing: number }> {
  const damaged = new Set<string>();
  const meter = reporter('blobs: ', progress);
  const copied = await copyBlobs({
    from: join(dataDir, 'blobs'),
    to: join(folder, 'blobs'),
    paths: listBlobs(join(dataDir, 'blobs')),
    onDamaged: (path) => damaged.add(path),
    progress: (_, bytes) => meter.add(bytes),
  });
  meter.end();
  for (const path of damaged) await rm(join(folder, 'blobs', path));
  const whole = copied.filter(({ path }) => !damaged.has(path));
  const lines = whole.map(({ path, bytes }) => `${path} ${bytes}\n`);
  const list = await storeFile(folder, BLOB_LIST, Readable.from(lines));
  const missing = await countMissing(mail, new Set(whole.map(({ path }) => path)));
  if (damaged.size > 0) {
    progress(`${damaged.size} blobs are damaged and left out, the first is ${[...damaged][0]}.`);
  }
  if (missing > 0) progress(`${missing} blobs that mail refers to are not there.`);
  return {
    list,
    count: whole.length,
    bytes: whole.reduce((sum, { bytes }) => sum + bytes, 0),
    damaged: damaged.size,
    missing,
  };
}
