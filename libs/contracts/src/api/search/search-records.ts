import { z } from 'zod';
import { id, timestamp } from '../record-shapes';

export const SEARCH_TYPES = ['conversation', 'message'] as const;

export const SearchHitRecord = z.object({
  type: z.enum(SEARCH_TYPES),
  id,
  conversation_id: id,
  mailbox_id: id,
  subject: z.string(),
  preview: z.string(),
  at: timestamp,
  score: z.number(),
  highlights: z.record(z.string(), z.array(z.string())),
});

export type SearchHitRecord = z.infer<typeof SearchHitRecord>;
