import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { retainNow } from '@dak/gateway';
import { openBlobs } from '@dak/mail';
import { InvalidError } from '@dak/kernel';
import { readConfig } from '@dak/platform/config';
import {
  DATABASES,
  DATABASE_VARIABLES,
  migrateAll,
  namedDatabases,
  type DatabaseUrls,
} from '@dak/platform/deployment';
import { runningEmbeddedPostgres, scrubDatabases } from '@dak/platform/embedded-postgres';
import { KAFKA_VARIABLES, openLog } from '@dak/platform/log';
import { createLoggers } from '@dak/platform/logging';
import { composeRetention } from './service';

const USAGE = `Removes at once what organizations keep no longer, while Dak runs, which else does so every hour.

  npm run --silent retention -- --now

It prints one line of JSON: {messages, conversations, blobs, bytes}.

Where: DAK_DATABASE_URL, or each of ${DATABASE_VARIABLES.join(', ')},
or the database of the Dak that runs on the data folder (DAK_DATA_DIR, .dak).`;

const MIGRATIONS = join(__dirname, '../migrations');
const VARIABLES = [
  'DAK_DATA_DIR',
  'DAK_DATABASE_URL',
  ...DATABASE_VARIABLES,
  'DAK_LOG_LEVEL',
  ...KAFKA_VARIABLES,
] as const;

async function retain(): Promise<void> {
  const config = readConfig(VARIABLES, process.env);
  const { adminUrl, urls } = await databases(config);
  const logger = createLoggers(config.DAK_LOG_LEVEL);
  const events = await openLog({
    databaseUrl: urls.log,
    config,
    logger: logger('log'),
  });
  const blobs = await openBlobs(config.DAK_DATA_DIR, logger('mail'));
  const services = composeRetention(urls, blobs);
  try {
    const { messages, conversations, blobs, bytes } = await retainNow({
      databaseUrl: urls.gateway,
      log: events.log,
      services: services.behindGateway,
    });
    // First, because the next step may fail while a table is locked.
    process.stdout.write(`${JSON.stringify({ messages, conversations, blobs, bytes })}\n`);
    if (adminUrl !== null) {
      await scrubDatabases(
        adminUrl,
        DATABASES.map((name) => `dak_${name}`),
        { isOurs: config.DAK_DATABASE_URL === undefined },
      );
    }
  } finally {
    await services.close();
    await events.close();
  }
}

async function databases(
  config: ReturnType<typeof readConfig<(typeof VARIABLES)[number]>>,
): Promise<{ adminUrl: string | null; urls: DatabaseUrls }> {
  const adminUrl = config.DAK_DATABASE_URL ?? null;
  const named = namedDatabases(config);
  if (adminUrl === null && DATABASES.every((name) => named[name] !== undefined)) {
    return { adminUrl, urls: named as DatabaseUrls };
  }
  const admin = adminUrl ?? runningEmbeddedPostgres(config.DAK_DATA_DIR);
  if (admin === null) {
    throw new InvalidError(
      `No Dak runs on ${config.DAK_DATA_DIR}: start it, or set DAK_DATABASE_URL.`,
    );
  }
  return { adminUrl: admin, urls: await migrateAll({ adminUrl: admin, migrations: MIGRATIONS }) };
}

async function main(): Promise<void> {
  try {
    const { values } = parseArgs({
      options: { now: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    });
    if (values.help === true) return void process.stdout.write(`${USAGE}\n`);
    if (values.now !== true) throw new InvalidError('Say --now to remove what is to be removed.');
    await retain();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}

if (require.main === module) void main();
