import { createHash } from 'node:crypto';
import type { Principal } from '@dak/kernel';
import type { AuditNote } from '../http/route';

export interface AuditActor {
  type: 'user' | 'api_key' | 'system' | 'anonymous';
  id: string | null;
  name: string;
}

/** One link of an organization's chain. */
export interface AuditEntry {
  id: string;
  organizationId: string;
  sequence: number;
  /** RFC 3339 with milliseconds. */
  at: string;
  actor: AuditActor;
  action: string;
  target: { type: string; id: string | null };
  outcome: AuditNote['outcome'];
  requestId: string;
  details: Readonly<Record<string, unknown>>;
  previousHash: string;
}

export const GENESIS_HASH = '0'.repeat(64);

export const SYSTEM_ACTOR: AuditActor = { type: 'system', id: null, name: 'system' };

export function actorOf(principal: Principal | null): AuditActor {
  if (principal === null) return { type: 'anonymous', id: null, name: 'anonymous' };
  return principal.type === 'api_key'
    ? { type: 'api_key', id: principal.credentialId, name: principal.userName }
    : { type: 'user', id: principal.userId, name: principal.userName };
}

/** sha256, hex, over the canonical JSON of the entry, the hash before it included. */
export function auditHash(entry: AuditEntry): string {
  return createHash('sha256').update(canonicalJson(entry)).digest('hex');
}

/** Members sorted by name at every level, nothing undefined, no white space (the parts of RFC 8785 that details need). */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value ?? null);
}
