import { Database } from '@dak/platform/postgres';
import {
  connectedRegistry,
  createTenantHandlers,
  type ConnectedRegistry,
} from '@dak/platform/tenant-directory';
import { webhookTenants } from './tenant-directory';

/** What of the webhook service removes events, by itself. */
export function createWebhookRetention(options: { databaseUrl: string }): {
  registry: ConnectedRegistry;
  close: () => Promise<void>;
} {
  const database = new Database({
    url: options.databaseUrl,
    applicationName: 'dak retention',
    maxConnections: 2,
  });
  const nobody = (): void => undefined;
  const tenants = createTenantHandlers(
    webhookTenants({ database, onChanged: nobody, onSwitched: nobody }),
  );
  return { registry: connectedRegistry(tenants), close: () => database.close() };
}
