import { RetentionServiceService } from '@dak/contracts/webhook';
import { ServiceRegistry } from '@dak/platform/grpc';
import { Database } from '@dak/platform/postgres';
import { createRetentionHandlers } from './handlers';

/** What of the webhook service removes events, by itself. */
export function createWebhookRetention(options: { databaseUrl: string }): {
  registry: ServiceRegistry;
  close: () => Promise<void>;
} {
  const database = new Database({
    url: options.databaseUrl,
    applicationName: 'dak retention',
    maxConnections: 2,
  });
  const registry = new ServiceRegistry();
  const onChanged = (): void => undefined;
  registry.register(RetentionServiceService, createRetentionHandlers({ database, onChanged }), {
    internal: true,
  });
  return { registry, close: () => database.close() };
}
