import { z } from 'zod';
import { idShape } from '../../requests';
import { ATTACHMENT_LIMITS } from './attachment-limits';
import { uploadTokenShape } from './upload-token';

/** Without its angle brackets (RFC 2392 §2). */
const contentId = z
  .string()
  .max(202)
  .overwrite((text) => text.replace(/^<(.*)>$/, '$1'))
  .refine(
    (text) => /^[^\s<>\p{Cc}]{1,200}$/u.test(text),
    'must be 1 to 200 characters without spaces or angle brackets.',
  );

const size = z.int().min(0).max(ATTACHMENT_LIMITS.attachment_bytes);
const sha256 = z
  .string()
  .regex(/^[0-9a-fA-F]{64}$/, 'must be a SHA-256 as 64 hexadecimal digits.')
  .toLowerCase();

/** A file whose content comes later, by a link. */
export const CreateUpload = z.object({
  filename: z.string().min(1).max(255),
  content_type: z.string().max(255).optional(),
  size_bytes: size,
  sha256: sha256.optional(),
  content_id: contentId.optional(),
});

/** A file whose content follows, and what was promised of it before. */
export const UploadFile = z.object({
  filename: z.string(),
  content_type: z.string(),
  content_id: contentId.optional(),
  disposition: z.enum(['attachment', 'inline']).optional(),
  token: uploadTokenShape.optional(),
  size_bytes: size.optional(),
  sha256: sha256.optional(),
});

export const ReuseAttachment = z.object({ message_id: idShape, attachment_id: idShape });

export type UploadFile = z.output<typeof UploadFile>;
