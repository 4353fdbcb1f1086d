import { join } from 'node:path';
import { readConfig } from '@dak/platform/config';
import { migrateAll } from '@dak/platform/deployment';

/** Beside the bundle, see `scripts/build.mjs`. */
const MIGRATIONS = join(__dirname, '../migrations');

/** `npm run migrate`: databases, roles and migrations of all services in the cluster of `DAK_DATABASE_URL`. */
async function main(): Promise<void> {
  const { DAK_DATABASE_URL: adminUrl } = readConfig(['DAK_DATABASE_URL'], process.env);
  if (adminUrl === undefined) throw new Error('set DAK_DATABASE_URL to an administrator’s URL.');
  await migrateAll({
    adminUrl,
    migrations: MIGRATIONS,
    report: (database, applied) =>
      process.stdout.write(`${database}: ${applied.length ? applied.join(', ') : 'up to date'}\n`),
  });
}

main().catch((error: unknown) => {
  process.stderr.write(`Dak cannot migrate: ${(error as Error).message}\n`);
  process.exitCode = 1;
});
