import { z } from 'zod';
import { id, timestamp } from '../record-shapes';

export const SignatureRecord = z.object({
  id,
  name: z.string(),
  body_html: z.string(),
  body_text: z.string(),
  mailbox_id: id.nullable(),
  is_default: z.boolean(),
  created_at: timestamp,
  updated_at: timestamp,
});

export type SignatureRecord = z.infer<typeof SignatureRecord>;
