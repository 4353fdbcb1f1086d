import { createHash } from 'node:crypto';
import { ConflictError, InvalidError, type Clock } from '@dak/kernel';
import { ATTACHMENT_LIMITS, createUploadToken, UploadFile } from '@dak/contracts/api';
import type { Document, UploadRequest } from '@dak/contracts/mail';
import { parseRequest, requestOf } from '@dak/contracts/requests';
import { safeFilename } from '@dak/formats/rfc5322';
import type { BlobReference, BlobStore } from '@dak/platform/blobs';
import type { CallContext } from '@dak/platform/grpc';
import { idempotent } from '@dak/platform/idempotency';
import type { Database } from '@dak/platform/postgres';
import { requireRoom } from '../../mailboxes/organizations/storage-quota';
import { normalizeContentType, renderUpload, UPLOAD_LIFETIME_MS, type UploadRow } from './upload';
import { insertUpload, noteRefusedContent } from './upload-store';

/**
 * Stores a file for later messages. The first request describes it, the others are its content.
 * @throws DomainError `too_large` above {@link ATTACHMENT_LIMITS.attachment_bytes}
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
  const promised = parseRequest(UploadFile, requestOf(first.value.part.value));
  const { organizationId } = context.principal;
  await requireRoom(deps.database, organizationId, promised.size_bytes ?? 0);
  const blob = await deps.blobs.putStream(
    organizationId,
    contentOf(iterator),
    ATTACHMENT_LIMITS.attachment_bytes,
  );
  try {
    assertAsPromised(promised, blob);
    await requireRoom(deps.database, organizationId, blob.sizeBytes);
    return await store(deps, context, promised, blob);
  } catch (error) {
    // Otherwise an organization over its quota could fill the disk with refused uploads.
    await deps.database
      .inTenant(organizationId, (tx) => noteRefusedContent(tx, organizationId, blob.sha256))
      .catch(() => undefined);
    throw error;
  }
}

function store(
  deps: { database: Database; blobs: BlobStore; clock: Clock },
  context: CallContext,
  promised: UploadFile,
  blob: BlobReference,
): Promise<Document> {
  const { organizationId, userId } = context.principal;
  const description = descriptionOf(promised);
  return deps.database.inTenant(organizationId, (tx) =>
    idempotent(tx, withContent(context, blob.sha256, description.filename), async () => {
      const now = deps.clock();
      const row: UploadRow = {
        ...description,
        token: promised.token ?? createUploadToken(),
        user_id: userId,
        size_bytes: blob.sizeBytes,
        sha256: blob.sha256,
        scan_status: 'not_scanned',
        created_at: new Date(now).toISOString(),
        expires_at: new Date(now + UPLOAD_LIFETIME_MS).toISOString(),
      };
      if (!(await insertUpload(tx, organizationId, row))) {
        throw new ConflictError(
          'The content of this upload has been sent already. Use its token, or prepare another upload.',
          'already_uploaded',
        );
      }
      deps.blobs.requirePresent(organizationId, [blob.sha256]);
      return uploadDocument(row);
    }),
  );
}

/** The content must be what was announced when the upload was prepared. @throws InvalidError */
function assertAsPromised(promised: UploadFile, blob: BlobReference): void {
  if (promised.size_bytes !== undefined && promised.size_bytes !== blob.sizeBytes) {
    throw new InvalidError(
      `The content has ${blob.sizeBytes} bytes, but size_bytes promised ${promised.size_bytes}. Send it whole, or prepare the upload again.`,
      'content_mismatch',
    );
  }
  if (promised.sha256 !== undefined && promised.sha256 !== blob.sha256) {
    throw new InvalidError(
      'The content does not have the promised sha256. Send it again, or prepare the upload again.',
      'content_mismatch',
    );
  }
}

/** The gateway cannot hash a body that it streams: what makes a request the same is added here. */
function withContent(context: CallContext, sha256: string, filename: string): CallContext {
  if (context.idempotency === null) return context;
  const { idempotency } = context;
  const requestHash = createHash('sha256')
    .update(`${idempotency.requestHash}\n${sha256}\n${filename}`)
    .digest('hex');
  return { ...context, idempotency: { ...idempotency, requestHash } };
}

export function uploadDocument(row: UploadRow): Document {
  const json = Buffer.from(JSON.stringify(renderUpload(row)));
  return { id: row.token, version: 0, json, replayed: false };
}

type FileDescription = Pick<UploadRow, 'filename' | 'content_type' | 'disposition' | 'content_id'>;

function descriptionOf(file: UploadFile): FileDescription {
  const { filename, content_type, content_id = null } = file;
  return {
    filename: safeFilename(filename) ?? 'file',
    content_type: normalizeContentType(content_type),
    disposition: file.disposition ?? (content_id === null ? 'attachment' : 'inline'),
    content_id,
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
