import { z } from 'zod';
import { id, timestamp } from '../record-shapes';

export const LabelRecord = z.object({
  id,
  name: z.string(),
  color: z.string().nullable(),
  description: z.string().nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});

export type LabelRecord = z.infer<typeof LabelRecord>;
