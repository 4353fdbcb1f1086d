import type { Role } from '@dak/kernel';
import type { Database } from '@dak/platform/postgres';

/** Everything about a credential that decides who the caller is, from live rows. */
export interface CredentialRow {
  organizationId: string;
  organizationStatus: string;
  userId: string;
  userName: string;
  role: Role;
  active: boolean;
  departmentIds: string[];
  credentialId: string;
  /** Null for a session: all scopes of the role. */
  scopes: string[] | null;
  expiresAt: string | null;
  revokedAt: string | null;
  lastUsedAt: string | null;
}

const PERSON = `
         o.id           as "organizationId",
         o.status       as "organizationStatus",
         u.id           as "userId",
         u.display_name as "userName",
         u.role         as "role",
         u.active       as "active",
         array(
           select m.department_id
             from department_member m
            where m.organization_id = u.organization_id
              and m.user_id = u.id
            order by m.department_id
         )              as "departmentIds"`;

const KEY = `
  select ${PERSON},
         k.id           as "credentialId",
         k.scopes       as "scopes",
         k.expires_at   as "expiresAt",
         k.revoked_at   as "revokedAt",
         k.last_used_at as "lastUsedAt"
    from api_key k
    join user_account u on u.organization_id = k.organization_id and u.id = k.user_id
    join organization o on o.id = k.organization_id`;

const FIND_KEY = `${KEY}
   where k.secret_hash = $1`;

const FIND_KEY_BY_ID = `${KEY}
   where k.organization_id = $1
     and k.id = $2`;

const FIND_SESSION = `
  select ${PERSON},
         s.id           as "credentialId",
         null::text[]   as "scopes",
         s.expires_at   as "expiresAt",
         s.revoked_at   as "revokedAt",
         null::timestamptz as "lastUsedAt"
    from session s
    join user_account u on u.organization_id = s.organization_id and u.id = s.user_id
    join organization o on o.id = s.organization_id
   where s.organization_id = $1
     and s.id = $2`;

/** The tenant is not known before the credential is: this reads across tenants, by hash only. */
export async function findApiKey(database: Database, hash: Buffer): Promise<CredentialRow | null> {
  const [rows] = await database.batchAsWorker([
    { name: 'find_api_key', text: FIND_KEY, values: [hash] },
  ]);
  return (rows?.[0] as CredentialRow | undefined) ?? null;
}

export async function findApiKeyById(
  database: Database,
  organizationId: string,
  keyId: string,
): Promise<CredentialRow | null> {
  const [rows] = await database.batchInTenant(organizationId, [
    { name: 'find_api_key_by_id', text: FIND_KEY_BY_ID, values: [organizationId, keyId] },
  ]);
  return (rows?.[0] as CredentialRow | undefined) ?? null;
}

export async function findSession(
  database: Database,
  organizationId: string,
  sessionId: string,
): Promise<CredentialRow | null> {
  const [rows] = await database.batchInTenant(organizationId, [
    { name: 'find_session', text: FIND_SESSION, values: [organizationId, sessionId] },
  ]);
  return (rows?.[0] as CredentialRow | undefined) ?? null;
}

const TOUCH_KEYS = `
  update api_key k
     set last_used_at = greatest(k.last_used_at, used.at)
    from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as used (organization_id, id, at)
   where k.organization_id = used.organization_id
     and k.id = used.id`;

export async function touchApiKeys(
  database: Database,
  uses: readonly { organizationId: string; keyId: string; at: string }[],
): Promise<void> {
  await database.batchAsWorker([
    {
      name: 'touch_api_keys',
      text: TOUCH_KEYS,
      values: [
        uses.map((use) => use.organizationId),
        uses.map((use) => use.keyId),
        uses.map((use) => use.at),
      ],
    },
  ]);
}
