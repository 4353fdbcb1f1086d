import { join } from 'node:path';
import {
  SERVICES,
  serviceVariable,
  serviceVariables,
  type ServiceVariable,
} from '@dak/platform/config';
import { applyMigrations } from '@dak/platform/migrations';

/** The databases of the services and of the log; each has its own role. */
export const DATABASES = [...SERVICES, 'log'] as const;

/** What names them one by one. */
export const DATABASE_VARIABLES = serviceVariables(DATABASES, 'DATABASE_URL');

export type DatabaseName = (typeof DATABASES)[number];
export type DatabaseUrls = Record<DatabaseName, string>;

/** The URLs of the databases that a configuration names one by one. */
export function namedDatabases(
  config: Readonly<Record<ServiceVariable<DatabaseName, 'DATABASE_URL'>, string | undefined>>,
): Partial<DatabaseUrls> {
  const urls: Partial<DatabaseUrls> = {};
  for (const name of DATABASES) {
    const url = config[serviceVariable(name, 'DATABASE_URL')];
    if (url !== undefined) urls[name] = url;
  }
  return urls;
}

export interface MigrateOptions<Name extends DatabaseName> {
  /** Administrator URL of the cluster. */
  adminUrl: string;
  /** Folder with one of each database, `dist/migrations`. */
  migrations: string;
  /** @default all */
  databases?: readonly Name[];
  /** Names of what was applied, none when a database was up to date. */
  report?: (database: Name, applied: readonly string[]) => void;
}

/**
 * The one migration command: creates databases and runtime roles and applies missing migrations. Safe to
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
