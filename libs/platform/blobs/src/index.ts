export type { BlobReference, BlobStore } from './blob-store';
export { FolderBlobStore, type FolderBlobStoreOptions } from './folder-blob-store';
