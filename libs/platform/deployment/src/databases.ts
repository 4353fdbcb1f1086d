import { join } from 'node:path';
import { applyMigrations } from '@dak/platform/migrations';

/** The services that own a database; each has a role of its own. */
export const DATABASES = ['gateway', 'mail', 'log'] as const;

export type DatabaseUrls = Record<(typeof DATABASES)[number], string>;

/**
 * The one migration command: makes databases and runtime roles in the cluster of `adminUrl` and
 * applies what is missing. Safe to run by several replicas at once.
 * @param migrations folder with one of each service, `dist/migrations`
 * @returns each service's URL under its runtime role
 */
export async function migrateAll(
  adminUrl: string,
  migrations: string,
  report: (service: string, applied: readonly string[]) => void = () => undefined,
): Promise<DatabaseUrls> {
  const urls: Partial<DatabaseUrls> = {};
  for (const service of DATABASES) {
    const { url, applied } = await applyMigrations({
      adminUrl,
      database: `dak_${service}`,
      role: `dak_${service}`,
      folder: join(migrations, service),
    });
    report(service, applied);
    urls[service] = url;
  }
  return urls as DatabaseUrls;
}
