import { ROLES } from '@dak/kernel';
import { z } from 'zod';
import { id, timestamp } from '../record-shapes';

export const UserRecord = z
  .object({
    id,
    email: z.string(),
    display_name: z.string(),
    role: z.enum(ROLES),
    department_ids: z.array(id),
    active: z.boolean(),
    invited: z.boolean().meta({ description: 'True until the user has set a password' }),
    last_login_at: timestamp.nullable(),
    version: z.int(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'User' });

export const InviteRecord = z.object({
  invite_token: z.string().meta({ description: 'Single use; for POST /auth/accept-invite' }),
  invite_expires_at: timestamp,
});

export const CreatedUserRecord = UserRecord.extend({
  invite_token: InviteRecord.shape.invite_token.nullable(),
  invite_expires_at: InviteRecord.shape.invite_expires_at.nullable(),
}).meta({ id: 'CreatedUser' });

export type UserRecord = z.infer<typeof UserRecord>;
