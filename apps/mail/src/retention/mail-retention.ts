import { RetentionServiceService } from '@dak/contracts/mail';
import { systemClock } from '@dak/kernel';
import type { BlobStore } from '@dak/platform/blobs';
import { ServiceRegistry } from '@dak/platform/grpc';
import { Database } from '@dak/platform/postgres';
import { createRetentionHandlers } from './handlers';

/** What of the mail service removes mail, by itself. */
export function createMailRetention(options: { databaseUrl: string; blobs: BlobStore }): {
  registry: ServiceRegistry;
  close: () => Promise<void>;
} {
  const database = new Database({
    url: options.databaseUrl,
    applicationName: 'dak retention',
    maxConnections: 2,
  });
  const registry = new ServiceRegistry();
  registry.register(
    RetentionServiceService,
    createRetentionHandlers({ database, blobs: options.blobs, clock: systemClock }),
    { internal: true },
  );
  return { registry, close: () => database.close() };
}
