export type { BlobReference, BlobStore } from './blob-store';
export { FolderBlobStore, type FolderBlobStoreOptions } from './folder-blob-store';
export { BLOB_REMOVAL_LOCK } from './removal-lock';
