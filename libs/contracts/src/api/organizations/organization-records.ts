import { z } from 'zod';
import { SWITCH_STATES } from '../operations/operation-records';
import { id, timestamp } from '../record-shapes';
import { CreatedUserRecord } from '../users/user-records';

export const ORGANIZATION_STATUSES = ['active', 'suspended'] as const;

export const OrganizationRecord = z
  .object({
    id,
    name: z.string(),
    status: z.enum(ORGANIZATION_STATUSES),
    time_zone: z.string(),
    default_from_name: z.string().nullable(),
    retention_days: z.int().nullable(),
    storage_bytes: z
      .int()
      .nullable()
      .meta({ description: 'Mail and files beyond this limit are refused; null = no limit' }),
    outgoing: z
      .enum(SWITCH_STATES)
      .meta({ description: 'hold: the organization’s outgoing mail waits' }),
    version: z.int(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Organization' });

export const CreatedOrganizationRecord = OrganizationRecord.extend({
  domains: z.array(z.string()),
  admin: CreatedUserRecord.pick({
    id: true,
    email: true,
    display_name: true,
    invite_token: true,
    invite_expires_at: true,
  }),
}).meta({ id: 'CreatedOrganization' });

export const OwnedDomainsRecord = z
  .object({ organization_id: id, domains: z.array(z.string()) })
  .meta({ id: 'OwnedDomains' });

export type OrganizationRecord = z.infer<typeof OrganizationRecord>;
