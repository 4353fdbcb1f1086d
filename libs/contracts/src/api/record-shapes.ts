import { z } from 'zod';

export const id = z.uuid();
export const timestamp = z.iso.datetime().describe('RFC 3339, UTC');
export const metadata = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
  .describe('At most 64 keys');

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

export const AddressRecord = z.object({ email: z.string(), name: z.string() });

export type AddressRecord = z.infer<typeof AddressRecord>;
