import { join } from 'node:path';
import { applyMigrations } from '@dak/platform/migrations';

/** The services that own a database; each has a role of its own. */
const SERVICES = ['gateway', 'mail', 'log'] as const;
type Service = (typeof SERVICES)[number];

export type DatabaseUrls = Record<Service, string>;

/** Beside the bundle, see `scripts/build.mjs`. */
const MIGRATIONS = join(__dirname, '../migrations');

/**
 * The one migration command: makes databases and runtime roles in the cluster of `adminUrl` and
 * applies what is missing. Safe to run by several replicas at once.
 * @returns each service's URL under its runtime role
 */
export async function migrateAll(
  adminUrl: string,
  report: (service: string, applied: readonly string[]) => void = () => undefined,
): Promise<DatabaseUrls> {
  const urls: Partial<DatabaseUrls> = {};
  for (const service of SERVICES) {
    const { url, applied } = await applyMigrations({
      adminUrl,
      database: `dak_${service}`,
      role: `dak_${service}`,
      folder: join(MIGRATIONS, service),
    });
    report(service, applied);
    urls[service] = url;
  }
  return urls as DatabaseUrls;
}
