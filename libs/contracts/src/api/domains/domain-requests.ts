import { z } from 'zod';
import { DOMAIN_LIMITS } from './domain-limits';

/** As a person writes it; the mail service checks whether an organization can own it. */
const domainName = z.string().min(1).max(300);

export const CreateDomain = z
  .object({ name: domainName.meta({ examples: ['customer.example'] }) })
  .meta({ id: 'CreateDomain' });

/** Domains that a superadmin grants without asking the DNS. */
export const domainNames = z
  .array(domainName)
  .max(DOMAIN_LIMITS.domains)
  .meta({
    description: 'Domains the organization will own, granted without a DNS check.',
    examples: [['customer.example']],
  });

export const PutDomains = z.object({ domains: domainNames }).meta({ id: 'PutDomains' });
