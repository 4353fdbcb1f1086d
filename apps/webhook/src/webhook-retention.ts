import { openDirectoryAlone, type DirectoryAlone } from '@dak/platform/tenant-directory';
import { webhookTenants } from './tenant-directory';

/** The part of the webhook service that deletes events, on its own. */
export function createWebhookRetention(options: { databaseUrl: string }): DirectoryAlone {
  const ignore = (): void => undefined;
  return openDirectoryAlone(options.databaseUrl, (database) =>
    webhookTenants({ database, onChanged: ignore, onSwitched: ignore }),
  );
}
