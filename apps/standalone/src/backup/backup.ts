import { readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join, resolve } from 'node:path';
import { InvalidError } from '@dak/kernel';
import { readConfig } from '@dak/platform/config';
import { runningEmbeddedPostgres } from '@dak/platform/embedded-postgres';
import { takeBackup } from './take-backup';

const USAGE = `Usage: npm run --silent backup -- DIR

Copies the Dak that runs on DAK_DATA_DIR, as it is at one moment, into DIR, which has to be absent or empty. Databases
elsewhere are reached by DAK_DATABASE_URL. Prints one line of JSON.`;

function version(): string {
  const file = join(__dirname, '../../package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

async function main(args: readonly string[]): Promise<void> {
  const [folder, ...more] = args;
  if (folder === undefined || folder.startsWith('-') || more.length > 0) {
    throw new InvalidError(USAGE, 'usage');
  }
  const config = readConfig(['DAK_DATABASE_URL', 'DAK_DATA_DIR'], process.env);
  const adminUrl = config.DAK_DATABASE_URL ?? runningEmbeddedPostgres(config.DAK_DATA_DIR);
  if (adminUrl === null) {
    throw new InvalidError(
      `No Dak runs on ${resolve(config.DAK_DATA_DIR)}: start it, or set DAK_DATA_DIR or DAK_DATABASE_URL.`,
      'no_running_dak',
    );
  }
  const summary = await takeBackup({
    folder: resolve(folder),
    dataDir: resolve(config.DAK_DATA_DIR),
    adminUrl,
    version: version(),
    progress: (sentence) => process.stderr.write(`${sentence}\n`),
  });
  process.stdout.write(`${JSON.stringify(summary)}\n`);
}

process.umask(0o077);
// Copying and hashing use all that a core has: clients go first.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
});
