import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SingleBar } from 'cli-progress';
import { InvalidError } from '@dak/kernel';
import { readConfig } from '@dak/platform/config';
import { migrateAll } from '@dak/platform/deployment';
import { runningEmbeddedPostgres } from '@dak/platform/embedded-postgres';
import { KAFKA_VARIABLES, openLog } from '@dak/platform/log';
import { Database } from '@dak/platform/postgres';
import { compareWithLog } from '../analytics/compare-log';
import { rebuildModel } from '../analytics/rebuild-model';
import { countJournal, organizationsWithModel } from '../analytics/rebuild-store';

const USAGE = `Makes the numbers of analytics and reports anew out of their journal, while Dak runs.

  npm run rebuild-analytics [-- --organization ID] [--from-log]

  --organization ID  of this organization only
  --from-log         changes nothing: tells whether the journal has every event that the log still holds

Where: DAK_MAIL_DATABASE_URL (and DAK_LOG_DATABASE_URL for --from-log), or DAK_DATABASE_URL, or the database
of the Dak that runs on the data folder (DAK_DATA_DIR, .dak).`;

const MIGRATIONS = join(__dirname, '../migrations');

interface Progress {
  /** So many more are done. */
  readonly add: (count: number) => void;
  readonly end: () => void;
}

async function rebuild(url: string, only: string | undefined): Promise<void> {
  const database = new Database({
    url,
    applicationName: 'dak rebuild',
    maxConnections: 3,
    statementTimeoutMs: 0,
  });
  try {
    const organizations = only === undefined ? await organizationsWithModel(database) : [only];
    const progress = showProgress('entries', await countJournal(database));
    let entries = 0;
    for (const organizationId of organizations) {
      const report = await rebuildModel(database, organizationId, progress.add);
      entries += report.entries;
    }
    progress.end();
    print(`${organizations.length} organizations rebuilt out of ${entries} entries.`);
  } finally {
    await database.close();
  }
}

/** @returns whether the journal is complete */
async function compare(mailUrl: string, logUrl: string): Promise<boolean> {
  const database = new Database({
    url: mailUrl,
    applicationName: 'dak rebuild',
    maxConnections: 3,
    statementTimeoutMs: 0,
  });
  const opened = await openLog({
    databaseUrl: logUrl,
    config: readConfig(KAFKA_VARIABLES, process.env),
    logger: { warn: logTriedAgain, error: logTriedAgain },
  });
  try {
    const progress = showProgress('events', null);
    const { read, missing, different } = await compareWithLog(database, opened.log, progress.add);
    progress.end();
    for (const id of missing) print(`  missing: evt_${id}`);
    for (const id of different) print(`  different: evt_${id}`);
    print(`${read} events compared: ${missing.length} missing, ${different.length} different.`);
    return missing.length + different.length === 0;
  } finally {
    await opened.close();
    await database.close();
  }
}

/** A bar on a terminal, else a line every few seconds. */
function showProgress(what: string, total: number | null): Progress {
  let done = 0;
  if (process.stdout.isTTY === true && total !== null && total > 0) {
    const bar = new SingleBar({ format: `[{bar}] {percentage}% {value} of {total} ${what}` });
    bar.start(total, 0);
    return {
      add: (count) => void bar.update(Math.min((done += count), total)),
      end: () => bar.stop(),
    };
  }
  let said = Date.now();
  return {
    add: (count) => {
      done += count;
      if (Date.now() - said < 2_000) return;
      said = Date.now();
      print(total === null ? `${done} ${what}` : `${done} of ${total} ${what}`);
    },
    end: () => undefined,
  };
}

async function databaseUrls(): Promise<{ mail: string; log: string | undefined }> {
  const config = readConfig(
    ['DAK_MAIL_DATABASE_URL', 'DAK_LOG_DATABASE_URL', 'DAK_DATABASE_URL', 'DAK_DATA_DIR'],
    process.env,
  );
  if (config.DAK_MAIL_DATABASE_URL !== undefined) {
    return { mail: config.DAK_MAIL_DATABASE_URL, log: config.DAK_LOG_DATABASE_URL };
  }
  const adminUrl = config.DAK_DATABASE_URL ?? runningEmbeddedPostgres(config.DAK_DATA_DIR);
  if (adminUrl === null) {
    throw new InvalidError(
      `No Dak runs on ${config.DAK_DATA_DIR}: start it, or set DAK_DATABASE_URL.`,
    );
  }
  return migrateAll({ adminUrl, migrations: MIGRATIONS });
}

function logTriedAgain({ err }: Record<string, unknown>): void {
  print(`The log is tried again: ${(err as Error).message}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function main(): Promise<void> {
  try {
    const { values } = parseArgs({
      options: {
        organization: { type: 'string' },
        'from-log': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help === true) return print(USAGE);
    const urls = await databaseUrls();
    if (values['from-log'] !== true) return await rebuild(urls.mail, values.organization);
    if (urls.log === undefined) throw new InvalidError('Set DAK_LOG_DATABASE_URL as well.');
    if (!(await compare(urls.mail, urls.log))) process.exitCode = 1;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}

if (require.main === module) void main();
