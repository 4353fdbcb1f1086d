import { openDirectoryAlone, type DirectoryAlone } from '@dak/platform/tenant-directory';
import { webhookTenants } from './tenant-directory';

/** What of the webhook service removes events, by itself. */
export function createWebhookRetention(options: { databaseUrl: string }): DirectoryAlone {
  const nobody = (): void => undefined;
  return openDirectoryAlone(options.databaseUrl, (database) =>
    webhookTenants({ database, onChanged: nobody, onSwitched: nobody }),
  );
}
