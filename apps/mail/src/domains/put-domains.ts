import { PutDomains } from '@dak/contracts/api';
import type { PutDomainsRequest, PutDomainsResponse } from '@dak/contracts/mail';
import { parseRequest } from '@dak/contracts/requests';
import { InvalidError, isUuid, type Clock } from '@dak/kernel';
import { noteAudit, type AuditCause } from '@dak/platform/audit';
import { isUniqueViolation, type Database, type SqlExecutor } from '@dak/platform/postgres';
import { domainTaken, grantedDomain } from './domain';
import { ownableDomain } from './domain-name';
import type { DomainRow } from './domain-row';
import {
  insertFreeDomains,
  lockDomains,
  nameDomainOfMailboxes,
  removeDomain,
  updateDomain,
} from './domain-store';
import { findForeignOwner } from './foreign-owner';
import { formerOwnerForgotten } from './owner-kept';

/**
 * Sets, for a superadmin, exactly the domains that the organization owns, without a DNS check. What it
 * has pending besides stays so. Saying it again changes nothing.
 * @throws ConflictError `domain_taken` when one belongs to another organization; then nothing is changed
 */
export async function putDomains(
  { database, clock }: { database: Database; clock: Clock },
  request: PutDomainsRequest,
): Promise<PutDomainsResponse> {
  const { organizationId } = request;
  if (!isUuid(organizationId)) throw new InvalidError('organization_id must be a UUID.');
  const names = parseNames(request.names);
  const foreign = await findForeignOwner(database, organizationId, names);
  if (foreign !== null) throw domainTaken(foreign);
  const hasLost = await database
    .inTenant(organizationId, async (tx) => {
      const { gained, lost } = await setDomains(tx, organizationId, names, clock());
      if (!request.isClaim) {
        const cause = causeOf(request);
        for (const row of gained) await noteGained(tx, cause, row);
        for (const row of lost) await noteAudit(tx, cause, noteOf('deleted', row));
      }
      return lost.length > 0;
    })
    .catch((error: unknown) => {
      if (isUniqueViolation(error, 'domain_owner')) throw domainTaken(names.join(' or '));
      throw error;
    });
  if (hasLost) await formerOwnerForgotten();
  return { names };
}

/**
 * An organization's first domains. A name that another organization has verified meanwhile is left
 * out: the organization is there already.
 */
export async function grantFirstDomains(
  tx: SqlExecutor,
  organizationId: string,
  names: readonly string[],
  now: number,
): Promise<void> {
  const rows = parseNames(names).map((name) => grantedDomain(name, now));
  if (rows.length === 0) return;
  await insertFreeDomains(tx, organizationId, rows);
  for (const row of await lockDomains(tx, organizationId)) {
    await noteGained(tx, { organizationId, job: 'first-domains' }, row);
  }
}

function causeOf({ organizationId, userId, userName, requestId }: PutDomainsRequest): AuditCause {
  return {
    requestId,
    principal: {
      type: 'session',
      organizationId,
      userId,
      userName,
      role: 'superadmin',
      scopes: [],
      credentialId: '',
      departmentIds: [],
    },
  };
}

function noteGained(tx: SqlExecutor, cause: AuditCause, row: DomainRow): Promise<void> {
  return noteAudit(tx, cause, noteOf(row.version === 1 ? 'created' : 'updated', row));
}

function noteOf(change: 'created' | 'updated' | 'deleted', { id, name }: DomainRow) {
  return {
    action: `domain.${change}`,
    target: { type: 'domain', id },
    details: { name, granted: change !== 'deleted' },
  };
}

function parseNames(texts: readonly string[]): string[] {
  const { domains } = parseRequest(PutDomains, { domains: texts });
  return [...new Set(domains.map((text, i) => ownableDomain(`domains[${i}]`, text)))].sort();
}

/** @returns the domains the organization gained, and those it lost */
async function setDomains(
  tx: SqlExecutor,
  organizationId: string,
  names: readonly string[],
  now: number,
): Promise<{ gained: DomainRow[]; lost: DomainRow[] }> {
  const known = new Map(
    (await lockDomains(tx, organizationId)).map((row) => [row.name, row] as const),
  );
  const lost = [...known.values()].filter(
    ({ name, status }) => status === 'verified' && !names.includes(name),
  );
  for (const { id } of lost) await removeDomain(tx, organizationId, id);
  const fresh = names.filter((name) => !known.has(name)).map((name) => grantedDomain(name, now));
  const inserted = await insertFreeDomains(tx, organizationId, fresh);
  const missed = fresh.find(({ name }) => !inserted.includes(name));
  if (missed !== undefined) throw domainTaken(missed.name);
  const changed = [...known.values()]
    .filter(({ name, status }) => status === 'pending' && names.includes(name))
    .map((row) => granted(row, now));
  for (const row of changed) await updateDomain(tx, organizationId, row);
  await nameDomainOfMailboxes(tx, organizationId, names);
  return { gained: [...fresh, ...changed], lost };
}

function granted(row: DomainRow, now: number): DomainRow {
  const at = new Date(now).toISOString();
  return {
    ...row,
    status: 'verified',
    is_granted: true,
    is_contested: false,
    verified_at: at,
    version: row.version + 1,
    updated_at: at,
  };
}
