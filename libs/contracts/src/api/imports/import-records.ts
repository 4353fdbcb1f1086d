import { z } from 'zod';
import { id, timestamp } from '../record-shapes';

export const ImportRecord = z.object({
  id,
  mailbox_id: id,
  status: z.enum(['running', 'done', 'failed']),
  received: z.int().describe('Messages found in the import'),
  stored: z.int(),
  duplicates: z.int(),
  failed: z.array(z.object({ index: z.int(), reason: z.string() })),
  created_at: timestamp,
  updated_at: timestamp,
});

export type ImportRecord = z.infer<typeof ImportRecord>;
