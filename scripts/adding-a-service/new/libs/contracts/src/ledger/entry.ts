import { z } from 'zod';

/** Of an organization. */
export const MAX_ENTRIES = 1_000;

export const CreateEntry = z
  .object({
    title: z.string().min(1).max(200),
    amount: z.int().meta({ description: 'In cents', examples: [1250] }),
  })
  .meta({ id: 'CreateEntry' });

export const EntryRecord = z.object({
  id: z.uuid(),
  title: z.string(),
  amount: z.int(),
  created_at: z.iso.datetime(),
});

export type EntryRecord = z.infer<typeof EntryRecord>;
