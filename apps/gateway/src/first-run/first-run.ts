import { displayPrefix, DomainError, hashApiKey, SCOPES, uuidv7 } from '@dak/kernel';
import { newFirstRunSecrets, type FirstRunSecrets } from '@dak/platform/deployment';
import { SYSTEM_ACTOR } from '../audit/audit-entry';
import type { GatewayTransaction } from '../database/gateway-store';
import type { IdentityParts } from '../identity/identity-parts';
import { insertOrganization, noteInNewOrganization } from '../organizations/create-organization';
import { insertUser } from '../users/create-user';

export interface FirstRun {
  /** The demo organization. */
  organizationId: string;
  admin: { id: string; email: string; password: string };
  /** API key of the demo organization's admin, with all scopes. */
  apiKey: string;
  superadmin: { id: string; email: string; password: string };
}

export interface FirstRunOptions {
  /** Domain of the two e-mail addresses. @default dak.example */
  emailDomain?: string;
  superadminEmail?: string;
  secrets?: FirstRunSecrets;
}

/** Any id: the transaction's tenant until there is an organization. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** Fills an empty database, in one transaction; null when there is an organization already. */
export async function firstRun(
  parts: IdentityParts,
  options: FirstRunOptions = {},
): Promise<FirstRun | null> {
  const domain = options.emailDomain ?? 'dak.example';
  const secrets = options.secrets ?? newFirstRunSecrets();
  return inEmptyDatabase(parts, async (tx) => {
    const adminPassword = known(secrets.adminPassword);
    const superadminPassword = known(secrets.superadminPassword);
    const superadmin = await addSuperadmin(parts, tx, {
      email: options.superadminEmail ?? `superadmin@${domain}`,
      password: superadminPassword,
    });
    const admin = await addOrganization(parts, tx, {
      name: 'Demo',
      email: `admin@${domain}`,
      displayName: 'Demo Admin',
      role: 'admin',
      password: adminPassword,
      domains: [domain],
    });
    await tx.db.apiKey.create({
      data: {
        organizationId: admin.organizationId,
        id: uuidv7(),
        userId: admin.id,
        name: 'First key',
        scopes: [...SCOPES],
        secretHash: new Uint8Array(hashApiKey(secrets.apiKey)),
        prefix: displayPrefix(secrets.apiKey),
      },
    });
    return {
      organizationId: admin.organizationId,
      admin: { id: admin.id, email: admin.email, password: adminPassword },
      apiKey: secrets.apiKey,
      superadmin: {
        id: superadmin.id,
        email: superadmin.email,
        password: superadminPassword,
      },
    };
  });
}

/** Fills an empty database with a superadmin alone; null when there is an organization already. */
export function firstSuperadmin(
  parts: IdentityParts,
  person: { email: string; password: string },
): Promise<{ id: string } | null> {
  return inEmptyDatabase(parts, (tx) => addSuperadmin(parts, tx, person));
}

function inEmptyDatabase<T>(
  parts: IdentityParts,
  work: (tx: GatewayTransaction) => Promise<T>,
): Promise<T | null> {
  return parts.store.acrossTenants(NOBODY, async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(hashtext('dak first run'))::text as locked`);
    return (await tx.db.organization.count()) > 0 ? null : work(tx);
  });
}

function addSuperadmin(
  parts: IdentityParts,
  tx: GatewayTransaction,
  person: { email: string; password: string },
) {
  return addOrganization(parts, tx, {
    name: 'Platform',
    displayName: 'Superadmin',
    role: 'superadmin',
    ...person,
  });
}

/** @throws DomainError when the password is gone, as after a change, although the database is empty */
function known(password: string | null): string {
  if (password !== null) return password;
  throw new DomainError(
    'conflict',
    'first_run_failed',
    'The database is empty, but the first passwords have been changed and removed already: restore the database, or begin with an empty data folder.',
  );
}

interface FirstPerson {
  name: string;
  email: string;
  displayName: string;
  role: 'admin' | 'superadmin';
  password: string;
  /** The organization's domains. */
  domains?: readonly string[];
}

async function addOrganization(
  parts: IdentityParts,
  tx: GatewayTransaction,
  first: FirstPerson,
): Promise<{ organizationId: string; id: string; email: string }> {
  const organization = await insertOrganization(tx, {
    name: first.name,
    timeZone: 'UTC',
    domains: first.domains ?? [],
  });
  const user = await insertUser(tx, organization.id, {
    email: first.email,
    displayName: first.displayName,
    role: first.role,
    departmentIds: [],
    passwordHash: await parts.passwords.hash(first.email, first.password),
  });
  await noteInNewOrganization(
    parts,
    tx,
    organization.id,
    { principal: null, requestId: 'first-run' },
    { name: first.name, admin_id: user.id },
    SYSTEM_ACTOR,
  );
  return { organizationId: organization.id, id: user.id, email: user.email };
}
