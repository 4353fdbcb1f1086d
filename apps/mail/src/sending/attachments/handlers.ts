import { NotFoundError, type Clock } from '@dak/kernel';
import type { AttachmentServiceService, DescribeAttachmentRequest } from '@dak/contracts/mail';
import type { BlobStore } from '@dak/platform/blobs';
import type { CallContext, Handlers } from '@dak/platform/grpc';
import type { Database } from '@dak/platform/postgres';
import { findAttachment } from './attachment-store';
import { reuseAttachment } from './reuse-attachment';
import { uploadFile } from './upload-file';
import { deleteUpload } from './upload-store';

export function createAttachmentHandlers(deps: {
  database: Database;
  blobs: BlobStore;
  clock: Clock;
}): Handlers<typeof AttachmentServiceService, CallContext> {
  const find = (request: DescribeAttachmentRequest, { principal }: CallContext) =>
    deps.database.inTenant(principal.organizationId, (tx) =>
      findAttachment(
        tx,
        principal,
        request.conversationId,
        request.messageId,
        request.attachmentId,
      ),
    );
  return {
    upload: (requests, context) => uploadFile(deps, requests, context),
    reuseAttachment: (request, context) => reuseAttachment(deps, request, context),
    async discardUpload({ token }, { principal }) {
      const { organizationId, userId } = principal;
      const found = await deps.database.inTenant(organizationId, (tx) =>
        deleteUpload(tx, organizationId, token, userId),
      );
      if (!found) throw new NotFoundError('upload');
      return {};
    },
    async describeAttachment(request, context) {
      const row = await find(request, context);
      return {
        id: row.id,
        filename: row.filename,
        contentType: row.content_type,
        sizeBytes: row.size_bytes,
        sha256: row.sha256,
      };
    },
    async *downloadAttachment(request, context) {
      const { sha256 } = await find(request, context);
      const content = await deps.blobs.stream(context.principal.organizationId, sha256);
      for await (const chunk of content) yield { content: chunk as Buffer };
    },
  };
}
