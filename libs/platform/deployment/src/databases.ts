import { join } from 'node:path';
import { applyMigrations } from '@dak/platform/migrations';

/** Each service has a database of its own, with what tenants have under row-level security. */
export const SERVICE_DATABASES = ['gateway', 'mail', 'webhook'] as const;

/** The databases of the services, and the log's; each has a role of its own. */
export const DATABASES = [...SERVICE_DATABASES, 'log'] as const;

export type DatabaseName = (typeof DATABASES)[number];
export type DatabaseUrls = Record<DatabaseName, string>;

export interface MigrateOptions<Name extends DatabaseName> {
  /** Of an administrator of the cluster. */
  adminUrl: string;
  /** Folder with one of each database, `dist/migrations`. */
  migrations: string;
  /** @default all */
  databases?: readonly Name[];
  /** Names of what was applied, none when a database was up to date. */
  report?: (database: Name, applied: readonly string[]) => void;
}

/**
 * The one migration command: makes databases and runtime roles and applies what is missing. Safe to
 * run by several replicas at once.
 * @returns each database's URL under its runtime role
 */
export async function migrateAll<Name extends DatabaseName = DatabaseName>(
  options: MigrateOptions<Name>,
): Promise<Record<Name, string>> {
  const urls = {} as Record<Name, string>;
  for (const name of options.databases ??
    (DATABASES as readonly DatabaseName[] as readonly Name[])) {
    const { url, applied } = await applyMigrations({
      adminUrl: options.adminUrl,
      database: `dak_${name}`,
      role: `dak_${name}`,
      folder: join(options.migrations, name),
    });
    options.report?.(name, applied);
    urls[name] = url;
  }
  return urls;
}
