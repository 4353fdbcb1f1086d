import { z } from 'zod';
import { nameField, textField } from '../identity/fields';

export const createDepartmentBody = z
  .object({ name: nameField(), description: textField(2000).default('') })
  .meta({ id: 'CreateDepartment' });

export const updateDepartmentBody = z
  .object({ name: nameField().optional(), description: textField(2000).optional() })
  .meta({ id: 'UpdateDepartment' });

export const departmentMembersBody = z
  .object({ user_ids: z.array(z.uuid()).max(5000) })
  .meta({ id: 'DepartmentMembers' });
