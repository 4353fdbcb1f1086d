import type { DnsRecordStatus, DomainRecord } from '@dak/contracts/api';

/** A row of `domain`; times are RFC 3339 UTC. */
export interface DomainRow {
  id: string;
  name: string;
  status: DomainRecord['status'];
  token: string;
  is_granted: boolean;
  is_contested: boolean;
  record_status: DnsRecordStatus;
  found_value: string | null;
  last_checked_at: string | null;
  verified_at: string | null;
  version: number;
  created_at: string;
  updated_at: string;
}

/** For `from domain d`. */
export const DOMAIN_COLUMNS = `d.id, d.name, d.status, d.token, d.is_granted, d.is_contested, d.record_status,
  d.found_value, d.last_checked_at, d.verified_at, d.version, d.created_at, d.updated_at`;
