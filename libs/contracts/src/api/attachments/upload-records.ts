import { z } from 'zod';
import { timestamp } from '../record-shapes';

export const UploadRecord = z.object({
  token: z.string(),
  filename: z.string(),
  content_type: z.string(),
  size_bytes: z.int(),
  sha256: z.string(),
  scan_status: z.enum(['not_scanned', 'pending', 'clean', 'infected', 'unscannable']),
  content_id: z.string().nullable(),
  expires_at: timestamp,
});

export type UploadRecord = z.infer<typeof UploadRecord>;
