import { InvalidError, type Clock } from '@dak/kernel';
import type { Document, UploadDescription, UploadRequest } from '@dak/contracts/mail';
import { safeFilename } from '@dak/formats/rfc5322';
import type { BlobStore } from '@dak/platform/blobs';
import type { CallContext } from '@dak/platform/grpc';
import type { Database } from '@dak/platform/postgres';
import { idempotent } from '../idempotency/idempotent';
import {
  MAX_UPLOAD_BYTES,
  normalizeContentType,
  renderUpload,
  UPLOAD_LIFETIME_MS,
  type UploadRow,
} from './upload';
import { insertUpload } from './upload-store';
import { createUploadToken } from './upload-token';

const CONTENT_ID = /^[^\s<>\p{Cc}]{1,200}$/u;

/**
 * Stores a file for later messages. The first request describes it, the others are its content.
 * @throws DomainError `too_large` above {@link MAX_UPLOAD_BYTES}
 */
export async function uploadFile(
  deps: { database: Database; blobs: BlobStore; clock: Clock },
  requests: AsyncIterable<UploadRequest>,
  context: CallContext,
): Promise<Document> {
  const iterator = requests[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done === true || first.value.part?.$case !== 'description') {
    throw new InvalidError('The upload begins without a description of the file.');
  }
  const description = checkDescription(first.value.part.value);
  const { organizationId, userId } = context.principal;
  const blob = await deps.blobs.putStream(organizationId, contentOf(iterator), MAX_UPLOAD_BYTES);
  return deps.database.inTenant(organizationId, (tx) =>
    idempotent(tx, context, async () => {
      const now = deps.clock();
      const row: UploadRow = {
        ...description,
        token: createUploadToken(),
        user_id: userId,
        size_bytes: blob.sizeBytes,
        sha256: blob.sha256,
        scan_status: 'not_scanned',
        created_at: new Date(now).toISOString(),
        expires_at: new Date(now + UPLOAD_LIFETIME_MS).toISOString(),
      };
      await insertUpload(tx, organizationId, row);
      return uploadDocument(row);
    }),
  );
}

export function uploadDocument(row: UploadRow): Document {
  const json = Buffer.from(JSON.stringify(renderUpload(row)));
  return { id: row.token, version: 0, json, replayed: false };
}

type FileDescription = Pick<UploadRow, 'filename' | 'content_type' | 'disposition' | 'content_id'>;

function checkDescription(description: UploadDescription): FileDescription {
  const contentId = description.contentId?.replace(/^<(.*)>$/, '$1') ?? null;
  if (contentId !== null && !CONTENT_ID.test(contentId)) {
    throw new InvalidError(
      'content_id must be 1 to 200 characters without spaces or angle brackets.',
    );
  }
  const disposition = description.disposition ?? (contentId === null ? 'attachment' : 'inline');
  if (disposition !== 'attachment' && disposition !== 'inline') {
    throw new InvalidError('disposition must be attachment or inline.');
  }
  return {
    filename: safeFilename(description.filename) ?? 'file',
    content_type: normalizeContentType(description.contentType),
    disposition,
    content_id: contentId,
  };
}

async function* contentOf(iterator: AsyncIterator<UploadRequest>): AsyncIterable<Uint8Array> {
  for (;;) {
    const next = await iterator.next();
    if (next.done === true) return;
    if (next.value.part?.$case !== 'content') {
      throw new InvalidError('The upload describes two files. Send one file per upload.');
    }
    yield next.value.part.value;
  }
}
