import { join, resolve } from 'node:path';
import { InvalidError } from '@dak/kernel';
import { readConfig } from '@dak/platform/config';
import { restoreBackup } from './restore-backup';

const USAGE = `Usage: npm run --silent restore -- DIR

Makes the empty or absent DAK_DATA_DIR of the backup in DIR, with databases in the cluster of DAK_DATABASE_URL if it is
set. Outgoing mail is held until PATCH /api/v1/admin/operations {"outgoing": "run"}. Prints one line of JSON.`;

/** Beside the bundle, see `scripts/build.mjs`. */
const MIGRATIONS = join(__dirname, '../migrations');

async function main(args: readonly string[]): Promise<void> {
  const [folder, ...more] = args;
  if (folder === undefined || folder.startsWith('-') || more.length > 0) {
    throw new InvalidError(USAGE, 'usage');
  }
  const config = readConfig(['DAK_DATABASE_URL', 'DAK_DATA_DIR'], process.env);
  const summary = await restoreBackup({
    folder: resolve(folder),
    dataDir: config.DAK_DATA_DIR,
    adminUrl: config.DAK_DATABASE_URL,
    migrations: MIGRATIONS,
    progress: (sentence) => process.stderr.write(`${sentence}\n`),
  });
  process.stdout.write(`${JSON.stringify(summary)}\n`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
});
