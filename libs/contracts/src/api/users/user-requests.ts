import { ROLES } from '@dak/kernel';
import { z } from 'zod';
import { emailShape, nameShape, passwordShape } from '../../requests';

const MAX_DEPARTMENTS = 200;

const role = z.enum(['user', 'admin']);
const departmentIds = z.array(z.uuid()).max(MAX_DEPARTMENTS);

/** The route adds the page and `active`. */
export const ListUsers = z.object({
  q: z.string().max(200).optional().meta({ description: 'Part of name or address' }),
  role: z.enum(ROLES).optional(),
});

export const CreateUser = z
  .object({
    email: emailShape,
    display_name: nameShape,
    role: role.default('user'),
    department_ids: departmentIds.default([]),
    password: passwordShape.optional().meta({ description: 'If absent, the user is invited' }),
  })
  .meta({ id: 'CreateUser' });

export const UpdateUser = z
  .object({
    display_name: nameShape.optional(),
    role: role.optional(),
    department_ids: departmentIds.optional(),
    active: z.boolean().optional(),
  })
  .meta({ id: 'UpdateUser' });

export type CreateUser = z.output<typeof CreateUser>;
export type UpdateUser = z.output<typeof UpdateUser>;
