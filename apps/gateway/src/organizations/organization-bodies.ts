import { z } from 'zod';
import { emailField, nameField, passwordField, timeZoneField } from '../identity/fields';
import { OrganizationRecord, SWITCH_STATES } from '../identity/records';

export const updateOrganizationBody = z
  .object({
    name: nameField().optional(),
    time_zone: timeZoneField().optional(),
    default_from_name: nameField().nullable().optional(),
    retention_days: z.int().min(1).max(36_500).nullable().optional(),
  })
  .meta({ id: 'UpdateOrganization' });

export const createOrganizationBody = z
  .object({
    name: nameField(),
    time_zone: timeZoneField().optional(),
    admin: z.object({
      email: emailField(),
      display_name: nameField(),
      password: passwordField().optional(),
    }),
    domains: domainNames().optional(),
  })
  .meta({ id: 'CreateOrganization' });

export const putDomainsBody = z.object({ domains: domainNames() }).meta({ id: 'PutDomains' });

export const ownedDomains = z
  .object({ organization_id: z.uuid(), domains: z.array(z.string()) })
  .meta({ id: 'OwnedDomains' });

/** Granted without a question to the DNS; the mail service parses them. */
function domainNames() {
  return z
    .array(z.string().min(1).max(300))
    .max(100)
    .meta({
      description: 'Names of domains that the organization owns, granted without DNS.',
      examples: [['customer.example']],
    });
}

export const administerOrganizationBody = z
  .object({
    name: nameField().optional(),
    status: z.enum(['active', 'suspended']).optional(),
    storage_bytes: z.int().min(0).nullable().optional(),
    outgoing: z.enum(SWITCH_STATES).optional(),
  })
  .meta({ id: 'AdministerOrganization' });

export const createdOrganization = OrganizationRecord.extend({
  domains: z.array(z.string()),
  admin: z.object({
    id: z.uuid(),
    email: z.string(),
    display_name: z.string(),
    invite_token: z.string().nullable(),
    invite_expires_at: z.iso.datetime().nullable(),
  }),
}).meta({ id: 'CreatedOrganization' });
