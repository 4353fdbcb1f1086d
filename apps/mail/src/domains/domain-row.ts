import type { DnsRecordStatus, DomainRecord } from '@dak/contracts/api';
import { tableColumns } from '@dak/platform/postgres';

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

export const DOMAIN = tableColumns<DomainRow>('domain', {
  id: 'fixed',
  name: 'fixed',
  status: 'changes',
  token: 'fixed',
  is_granted: 'changes',
  is_contested: 'changes',
  record_status: 'changes',
  found_value: 'changes',
  last_checked_at: 'changes',
  verified_at: 'changes',
  version: 'changes',
  created_at: 'fixed',
  updated_at: 'changes',
});

/** For `from domain d`. */
export const DOMAIN_COLUMNS = DOMAIN.list('d');
