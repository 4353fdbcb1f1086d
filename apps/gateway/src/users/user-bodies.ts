import { z } from 'zod';
import { emailField, nameField, passwordField } from '../identity/fields';
import { UserRecord } from '../identity/records';

const departmentIds = z.array(z.uuid()).max(200);

export const createUserBody = z
  .object({
    email: emailField(),
    display_name: nameField(),
    role: z.enum(['user', 'admin']).default('user'),
    department_ids: departmentIds.default([]),
    password: passwordField().optional().meta({ description: 'Without it the person is invited' }),
  })
  .meta({ id: 'CreateUser' });

export const updateUserBody = z
  .object({
    display_name: nameField().optional(),
    role: z.enum(['user', 'admin']).optional(),
    department_ids: departmentIds.optional(),
    active: z.boolean().optional(),
  })
  .meta({ id: 'UpdateUser' });

export const inviteFields = {
  invite_token: z.string().meta({ description: 'One use; for POST /auth/accept-invite' }),
  invite_expires_at: z.iso.datetime(),
};

export const createdUser = UserRecord.extend({
  invite_token: inviteFields.invite_token.nullable(),
  invite_expires_at: inviteFields.invite_expires_at.nullable(),
}).meta({ id: 'CreatedUser' });
