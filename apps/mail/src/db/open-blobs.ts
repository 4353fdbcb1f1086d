import { join } from 'node:path';
import { FolderBlobStore, type BlobStore } from '@dak/platform/blobs';
import { failureReport, type Logger } from '@dak/platform/logging';

/** The mail of all tenants, in `<data folder>/blobs`. */
export function openBlobs(dataDir: string, logger: Logger): Promise<BlobStore> {
  return FolderBlobStore.open(join(dataDir, 'blobs'), {
    onError: failureReport(
      logger,
      'stored mail could not be flushed to its files; the journal beside them keeps it, and it is tried again',
    ),
  });
}
