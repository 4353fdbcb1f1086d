import { z } from 'zod';

const timestamp = z.iso.datetime().describe('RFC 3339, UTC');

export const DNS_RECORD_STATUSES = ['missing', 'invalid', 'valid', 'temporary_failure'] as const;

/** A DNS record that a domain's owner must create, and the result of the last check. */
export const DomainDnsRecord = z.object({
  purpose: z.enum(['ownership']),
  type: z.enum(['TXT']),
  name: z.string().describe('Fully qualified name of the record, without a trailing dot'),
  value: z.string(),
  status: z
    .enum(DNS_RECORD_STATUSES)
    .describe('temporary_failure: no name server answered, so the record’s state is unknown'),
  found_value: z.string().nullable().describe('What was found instead'),
  last_checked_at: timestamp.nullable(),
});

export const DomainRecord = z.object({
  id: z.uuid(),
  name: z.string().describe('Lower case, in its ASCII form'),
  status: z
    .enum(['pending', 'verified'])
    .describe('verified: mail to its addresses is yours alone; pending: no effect yet'),
  records: z.array(DomainDnsRecord),
  verified_at: timestamp.nullable(),
  version: z.int(),
  created_at: timestamp,
  updated_at: timestamp,
});

export type DnsRecordStatus = (typeof DNS_RECORD_STATUSES)[number];
export type DomainRecord = z.infer<typeof DomainRecord>;
