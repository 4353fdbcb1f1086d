import { RetentionServiceService } from '@dak/contracts/mail';
import { systemClock } from '@dak/kernel';
import type { BlobStore } from '@dak/platform/blobs';
import { Database } from '@dak/platform/postgres';
import {
  connectedRegistry,
  createTenantHandlers,
  type ConnectedRegistry,
} from '@dak/platform/tenant-directory';
import { createRetentionHandlers } from './retention/handlers';
import { mailTenants } from './tenant-directory';

/** What of the mail service removes mail, by itself. */
export function createMailRetention(options: { databaseUrl: string; blobs: BlobStore }): {
  registry: ConnectedRegistry;
  close: () => Promise<void>;
} {
  const database = new Database({
    url: options.databaseUrl,
    applicationName: 'dak retention',
    maxConnections: 2,
  });
  const deps = { database, blobs: options.blobs, clock: systemClock };
  const tenants = createTenantHandlers(mailTenants({ ...deps, onReleased: () => undefined }));
  const registry = connectedRegistry(tenants);
  registry.register(RetentionServiceService, createRetentionHandlers({ ...deps, tenants }), {
    internal: true,
  });
  return { registry, close: () => database.close() };
}
