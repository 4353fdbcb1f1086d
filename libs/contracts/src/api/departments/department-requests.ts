import { z } from 'zod';
import { linesShape, nameShape } from '../../requests';

const MAX_MEMBERS = 5000;

/** null empties it, as a record without one is written elsewhere. */
const description = linesShape(2000)
  .nullable()
  .transform((text) => text ?? '');

export const CreateDepartment = z
  .object({ name: nameShape, description: description.default('') })
  .meta({ id: 'CreateDepartment' });

export const UpdateDepartment = z
  .object({ name: nameShape.optional(), description: description.optional() })
  .meta({ id: 'UpdateDepartment' });

export const PutDepartmentMembers = z
  .object({ user_ids: z.array(z.uuid()).max(MAX_MEMBERS) })
  .meta({ id: 'DepartmentMembers' });

export type CreateDepartment = z.output<typeof CreateDepartment>;
export type UpdateDepartment = z.output<typeof UpdateDepartment>;
