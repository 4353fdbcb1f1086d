import { RetentionServiceService } from '@dak/contracts/mail';
import { systemClock as clock } from '@dak/kernel';
import type { BlobStore } from '@dak/platform/blobs';
import { openDirectoryAlone, type DirectoryAlone } from '@dak/platform/tenant-directory';
import { createRetentionHandlers } from './retention/handlers';
import { mailTenants } from './tenant-directory';

/** The mail service's retention, which can run on its own. */
export function createMailRetention(options: {
  databaseUrl: string;
  blobs: BlobStore;
}): DirectoryAlone {
  const { databaseUrl, blobs } = options;
  const alone = openDirectoryAlone(databaseUrl, (database) =>
    mailTenants({ database, blobs, clock, onReleased: () => undefined }),
  );
  const { database, tenants, registry } = alone;
  const handlers = createRetentionHandlers({ database, blobs, clock, tenants });
  registry.register(RetentionServiceService, handlers, { internal: true });
  return alone;
}
