import { z } from 'zod';
import { id, timestamp } from '../record-shapes';
import { UserRecord } from '../users/user-records';

/** The answer to a sign-in. */
export const SessionRecord = z
  .object({
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int().meta({ description: 'Seconds' }),
    user: UserRecord,
  })
  .meta({ id: 'Session' });

export const OwnSessionRecord = z
  .object({
    id,
    created_at: timestamp,
    address: z.string().nullable().meta({ description: 'Client address at sign-in' }),
    current: z.boolean().meta({ description: 'Whether this is the session making the request' }),
  })
  .meta({ id: 'OwnSession' });

export type OwnSessionRecord = z.infer<typeof OwnSessionRecord>;
