import { Database } from '@dak/platform/postgres';
import { connectedRegistry, type ConnectedRegistry } from './connected-registry';
import { createTenantHandlers, type TenantHandlers } from './handlers';
import type { TenantDirectoryParts } from './tenant-directory-parts';

export interface DirectoryAlone {
  database: Database;
  tenants: TenantHandlers;
  registry: ConnectedRegistry;
  close: () => Promise<void>;
}

/** The tenant directory of a service without the rest of it, for a command that removes what is kept no longer. */
export function openDirectoryAlone(
  databaseUrl: string,
  partsOf: (database: Database) => TenantDirectoryParts,
): DirectoryAlone {
  const database = new Database({
    url: databaseUrl,
    applicationName: 'dak retention',
    maxConnections: 2,
  });
  const tenants = createTenantHandlers(partsOf(database));
  const registry = connectedRegistry(tenants);
  return { database, tenants, registry, close: () => database.close() };
}
