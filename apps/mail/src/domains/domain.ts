import { randomBytes } from 'node:crypto';
import type { DnsRecordStatus, DomainRecord } from '@dak/contracts/api';
import { ConflictError, RefusedError, uuidv7 } from '@dak/kernel';
import type { DomainRow } from './domain-row';

/** Milliseconds for which a process may take for granted whose an address is: a loss holds everywhere after it. */
export const OWNER_KEPT_MS = 1000;
const TOKEN_BYTES = 24;
const MAX_FOUND_VALUE = 500;

/** The name servers' answer about a name's TXT records. */
export type TxtAnswer =
  | { readonly kind: 'records'; readonly values: readonly string[] }
  /** The name does not exist, or has no TXT record. */
  | { readonly kind: 'none' }
  /** No server answered, or the one that did could not. */
  | { readonly kind: 'failed' };

export interface OwnershipFinding {
  readonly status: DnsRecordStatus;
  /** What stands there instead of the expected value. */
  readonly foundValue: string | null;
}

export function newDomain(name: string, now: number): DomainRow {
  const at = new Date(now).toISOString();
  return {
    id: uuidv7(now),
    name,
    status: 'pending',
    token: randomBytes(TOKEN_BYTES).toString('base64url'),
    is_granted: false,
    is_contested: false,
    record_status: 'missing',
    found_value: null,
    last_checked_at: null,
    verified_at: null,
    version: 1,
    created_at: at,
    updated_at: at,
  };
}

export function grantedDomain(name: string, now: number): DomainRow {
  const row = newDomain(name, now);
  return { ...row, status: 'verified', is_granted: true, verified_at: row.created_at };
}

/** The TXT record that proves ownership, under a separate name so that it cannot clash with other records. */
export function ownershipRecord({ name, token }: Pick<DomainRow, 'name' | 'token'>) {
  return { name: `_dak-ownership.${name}`, value: `dak-ownership=${token}` };
}

export function judgeOwnership(answer: TxtAnswer, expected: string): OwnershipFinding {
  switch (answer.kind) {
    case 'failed':
      return { status: 'temporary_failure', foundValue: null };
    case 'none':
      return { status: 'missing', foundValue: null };
    case 'records': {
      const values = answer.values.map((value) => value.trim());
      if (values.includes(expected)) return { status: 'valid', foundValue: null };
      const found = values[0];
      return found === undefined
        ? { status: 'missing', foundValue: null }
        : { status: 'invalid', foundValue: found.slice(0, MAX_FOUND_VALUE) };
    }
  }
}

/** The row after a DNS check. A verified domain stays verified, whatever its record says. */
export function afterLook(
  row: DomainRow,
  { status, foundValue }: OwnershipFinding,
  now: number,
): DomainRow {
  const at = new Date(now).toISOString();
  const isNew = row.status === 'pending' && status === 'valid';
  return {
    ...row,
    ...(isNew ? { status: 'verified', is_contested: false, verified_at: at } : {}),
    record_status: status,
    found_value: foundValue,
    last_checked_at: at,
    version: row.version + 1,
    updated_at: at,
  };
}

export function renderDomain(row: DomainRow): DomainRecord {
  return {
    id: row.id,
    name: row.name,
    status: row.status,
    records: [
      {
        purpose: 'ownership',
        type: 'TXT',
        ...ownershipRecord(row),
        status: row.record_status,
        found_value: row.found_value,
        last_checked_at: row.last_checked_at,
      },
    ],
    verified_at: row.verified_at,
    version: row.version,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

export function domainTaken(name: string): ConflictError {
  return new ConflictError(
    `${name} belongs to another organization: a domain has one owner.`,
    'domain_taken',
  );
}

/** Mail from or to an address whose domain is not, or no longer, the organization's. */
export function domainNotOwned(domain: string): RefusedError {
  return new RefusedError(
    `${domain} is no verified domain of your organization: POST /domains and verify it, or ask a superadmin.`,
    'domain_not_owned',
  );
}
