import type { Clock } from '@dak/kernel';
import type { BlobStore } from '@dak/platform/blobs';
import type { Database } from '@dak/platform/postgres';
import type { Readers } from '../../db/database-reader';
import type { Acceptor } from './acceptor';

export interface SubmissionDeps {
  readonly database: Database;
  readonly readers: Readers;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly acceptor: Acceptor;
}
