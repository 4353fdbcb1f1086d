import type { Clock } from '@dak/kernel';
import { createUploadToken } from '@dak/contracts/api';
import type { Document, ReuseAttachmentRequest } from '@dak/contracts/mail';
import type { BlobStore } from '@dak/platform/blobs';
import type { CallContext } from '@dak/platform/grpc';
import { idempotent } from '@dak/platform/idempotency';
import type { Database } from '@dak/platform/postgres';
import { findAttachment } from './attachment-store';
import { UPLOAD_LIFETIME_MS, type UploadRow } from './upload';
import { uploadDocument } from './upload-file';
import { insertUpload } from './upload-store';

/** A token for the file of a message that the caller can read; the content is not copied. */
export async function reuseAttachment(
  deps: { database: Database; blobs: BlobStore; clock: Clock },
  request: ReuseAttachmentRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  return deps.database.inTenant(principal.organizationId, (tx) =>
    idempotent(tx, context, async () => {
      const { messageId, attachmentId } = request;
      const found = await findAttachment(tx, principal, null, messageId, attachmentId);
      const now = deps.clock();
      const row: UploadRow = {
        token: createUploadToken(),
        user_id: principal.userId,
        filename: found.filename,
        content_type: found.content_type,
        size_bytes: found.size_bytes,
        sha256: found.sha256,
        disposition: found.disposition,
        content_id: found.content_id,
        scan_status: 'not_scanned',
        created_at: new Date(now).toISOString(),
        expires_at: new Date(now + UPLOAD_LIFETIME_MS).toISOString(),
      };
      await insertUpload(tx, principal.organizationId, row);
      deps.blobs.requirePresent(principal.organizationId, [row.sha256]);
      return uploadDocument(row);
    }),
  );
}
