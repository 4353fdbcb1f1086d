import { z } from 'zod';
import { nameField, textField } from '../identity/fields';

/** null empties it, as a record without one is written elsewhere. */
const description = textField(2000)
  .nullable()
  .transform((text) => text ?? '');

export const createDepartmentBody = z
  .object({ name: nameField(), description: description.default('') })
  .meta({ id: 'CreateDepartment' });

export const updateDepartmentBody = z
  .object({ name: nameField().optional(), description: description.optional() })
  .meta({ id: 'UpdateDepartment' });

export const departmentMembersBody = z
  .object({ user_ids: z.array(z.uuid()).max(5000) })
  .meta({ id: 'DepartmentMembers' });
