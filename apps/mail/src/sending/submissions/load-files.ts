import { DomainError, InvalidError, type Principal } from '@dak/kernel';
import { SUBMISSION_LIMITS } from '@dak/contracts/api';
import type { BlobStore } from '@dak/platform/blobs';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { UploadRow } from '../attachments/upload';
import { findUploads } from '../attachments/upload-store';

const { attachments_per_message: MAX_FILES, message_bytes: MAX_MESSAGE_BYTES } = SUBMISSION_LIMITS;

/** A file of the blob store on its way into a message. */
export type FileReference = Pick<
  UploadRow,
  'filename' | 'content_type' | 'size_bytes' | 'sha256' | 'disposition' | 'content_id'
>;

/** The uploads of a request, in its order. @throws InvalidError `unknown_attachment` */
export async function loadUploads(
  tx: SqlExecutor,
  principal: Principal,
  tokens: readonly string[],
  draftId: string | null,
): Promise<UploadRow[]> {
  const { organizationId, userId } = principal;
  const found = await findUploads(tx, organizationId, tokens, userId, draftId);
  return tokens.map((token, index) => {
    const upload = found.get(token);
    if (upload !== undefined) return upload;
    throw new InvalidError(
      `attachment_tokens[${index}] is not the token of one of your uploads, or has expired. Upload the file again.`,
      'unknown_attachment',
    );
  });
}

/**
 * @throws InvalidError for too many files
 * @throws DomainError `message_too_large` before anything is read that could not fit
 */
export async function readFiles(
  blobs: BlobStore,
  organizationId: string,
  files: readonly FileReference[],
): Promise<Buffer[]> {
  if (files.length > MAX_FILES) {
    throw new InvalidError(
      `The message would carry ${files.length} files; at most ${MAX_FILES} are allowed.`,
    );
  }
  // Base64 turns 57 bytes into a line of 78 (RFC 2045 §6.8).
  const encoded = files.reduce((sum, file) => sum + Math.ceil((file.size_bytes / 57) * 78), 0);
  assertMessageSize(encoded);
  return Promise.all(files.map((file) => blobs.get(organizationId, file.sha256)));
}

/** @throws DomainError `message_too_large` */
export function assertMessageSize(bytes: number): void {
  if (bytes <= MAX_MESSAGE_BYTES) return;
  throw new DomainError(
    'too_large',
    'message_too_large',
    `The message would be ${bytes} bytes after encoding; at most ${MAX_MESSAGE_BYTES} are allowed. Send fewer or smaller files.`,
  );
}
