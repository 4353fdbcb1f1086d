import { SCOPES } from '@dak/kernel';
import { z } from 'zod';
import { id, timestamp } from '../record-shapes';

export const ApiKeyRecord = z
  .object({
    id,
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    prefix: z.string().meta({ description: 'Its first characters, for recognizing it' }),
    expires_at: timestamp.nullable(),
    created_at: timestamp,
    created_by: id,
    parent_id: id.nullable().meta({ description: 'The API key it was created with' }),
    last_used_at: timestamp.nullable().meta({ description: 'Exact to a minute' }),
    revoked_at: timestamp.nullable(),
  })
  .meta({ id: 'ApiKey' });

export const CreatedApiKeyRecord = ApiKeyRecord.extend({
  key: z.string().meta({ description: 'The full API key, never shown again' }),
}).meta({ id: 'CreatedApiKey' });

export type ApiKeyRecord = z.infer<typeof ApiKeyRecord>;
