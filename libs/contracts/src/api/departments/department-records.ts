import { z } from 'zod';
import { id, timestamp } from '../record-shapes';

export const DepartmentRecord = z
  .object({
    id,
    name: z.string(),
    description: z.string(),
    user_ids: z.array(id),
    version: z.int(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Department' });

export type DepartmentRecord = z.infer<typeof DepartmentRecord>;
