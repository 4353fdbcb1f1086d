import { z } from 'zod';
import { id, timestamp } from '../record-shapes';

export const AUDIT_OUTCOMES = ['attempted', 'succeeded', 'refused', 'failed'] as const;

export const AuditRecord = z
  .object({
    id,
    at: timestamp,
    actor: z.object({
      type: z.enum(['user', 'api_key', 'system', 'anonymous']),
      id: z.string().nullable(),
      name: z.string(),
    }),
    action: z.string(),
    target: z.object({ type: z.string(), id: z.string().nullable() }),
    outcome: z.enum(AUDIT_OUTCOMES),
    request_id: z.string(),
    details: z.record(z.string(), z.unknown()),
    hash: z.string().meta({ description: 'SHA-256 of the entry and previous_hash' }),
    previous_hash: z.string(),
  })
  .meta({ id: 'AuditEntry' });

export const AuditVerdictRecord = z.object({
  valid: z.boolean(),
  checked: z.int(),
  first_bad_id: id
    .nullable()
    .meta({ description: 'Also null when entries are missing at the end' }),
});
