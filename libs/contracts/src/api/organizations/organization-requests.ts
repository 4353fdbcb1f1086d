import { z } from 'zod';
import { nameShape, passwordShape, timeZoneShape } from '../../requests';
import { domainNames } from '../domains/domain-requests';
import { SWITCH_STATES } from '../operations/operation-records';
import { CreateUser } from '../users/user-requests';
import { ORGANIZATION_STATUSES } from './organization-records';

const { email, display_name } = CreateUser.shape;

/** The route adds the page. */
export const ListOrganizations = z.object({ status: z.enum(ORGANIZATION_STATUSES).optional() });

export const CreateOrganization = z
  .object({
    name: nameShape,
    time_zone: timeZoneShape.optional(),
    admin: z.object({ email, display_name, password: passwordShape.optional() }),
    domains: domainNames.optional(),
  })
  .meta({ id: 'CreateOrganization' });

/** What its admins change. */
export const UpdateOrganization = z
  .object({
    name: nameShape.optional(),
    time_zone: timeZoneShape.optional(),
    default_from_name: nameShape.nullable().optional(),
    retention_days: z.int().min(1).max(36_500).nullable().optional(),
  })
  .meta({ id: 'UpdateOrganization' });

/** What superadmins change. */
export const AdministerOrganization = z
  .object({
    name: nameShape.optional(),
    status: z.enum(ORGANIZATION_STATUSES).optional(),
    storage_bytes: z.int().min(0).nullable().optional(),
    outgoing: z.enum(SWITCH_STATES).optional(),
  })
  .meta({ id: 'AdministerOrganization' });

export type CreateOrganization = z.output<typeof CreateOrganization>;
export type UpdateOrganization = z.output<typeof UpdateOrganization>;
export type AdministerOrganization = z.output<typeof AdministerOrganization>;
