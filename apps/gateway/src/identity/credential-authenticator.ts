import { hash } from 'node:crypto';
import {
  hasApiKeyPrefix,
  hashApiKey,
  isWellFormedApiKey,
  type Clock,
  type Principal,
} from '@dak/kernel';
import type { Database } from '@dak/platform/postgres';
import {
  invalidCredentials,
  type Authenticator,
  type KnownCredential,
} from '../http/authenticator';
import type { AccessClaims, AccessTokens } from './access-token';
import { findApiKey, findApiKeyById, findSession, type CredentialRow } from './credential-store';
import type { IdentityVersions } from './identity-versions';
import type { LastUsedRecorder } from './last-used-recorder';
import { effectiveScopes, scopesOfRole } from './role-scopes';

/** Whatever happens to the shared state, nothing is believed longer than this. */
const MAX_AGE_MS = 30_000;
const CACHE_LIMIT = 20_000;

export type CredentialHolder = Pick<Principal, 'type' | 'organizationId' | 'credentialId'>;

interface Remembered extends KnownCredential {
  readonly principal: Principal;
  /** The organization's stamp before the rows were read. */
  readonly version: string;
  /** Milliseconds since the epoch: end of the credential, of its token or of the memory. */
  readonly validUntil: number;
}

export interface CredentialAuthenticatorDeps {
  database: Database;
  versions: IdentityVersions;
  tokens: AccessTokens;
  lastUsed: LastUsedRecorder;
  clock: Clock;
}

/**
 * Credential → principal from live rows. A cached principal is valid for one stamp of the organization
 * (see IdentityVersions), which is compared on every request: a map look-up in one process, one GET
 * with Redis.
 */
export class CredentialAuthenticator implements Authenticator {
  private readonly remembered = new Map<string, Remembered>();

  constructor(private readonly deps: CredentialAuthenticatorDeps) {}

  recall(credential: string): KnownCredential | undefined {
    return this.remembered.get(fingerprint(credential));
  }

  async isCurrent(known: KnownCredential): Promise<boolean> {
    const { principal, version, validUntil } = known as Remembered;
    if (validUntil <= this.deps.clock()) return false;
    if ((await this.deps.versions.current(principal.organizationId)) !== version) return false;
    this.touch(principal);
    return true;
  }

  async resolve(credential: string): Promise<KnownCredential> {
    const found = hasApiKeyPrefix(credential)
      ? await this.resolveKey(credential)
      : await this.resolveToken(credential);
    this.touch(found.principal);
    return found;
  }

  /**
   * Who holds a credential now that something was made with, such as a link.
   * @throws DomainError unauthenticated when it has ended
   */
  async principalOf(holder: CredentialHolder): Promise<Principal> {
    const { type, organizationId, credentialId } = holder;
    const find = type === 'session' ? findSession : findApiKeyById;
    const row = await find(this.deps.database, organizationId, credentialId);
    if (row === null || !isUsable(row, this.deps.clock())) throw invalidCredentials();
    return toPrincipal(row);
  }

  private touch(principal: Principal): void {
    if (principal.type !== 'api_key') return;
    this.deps.lastUsed.touch(principal.organizationId, principal.credentialId);
  }

  private async resolveKey(key: string): Promise<KnownCredential> {
    if (!isWellFormedApiKey(key)) throw invalidCredentials();
    const secretHash = hashApiKey(key);
    // The stamp has to be older than the rows; on first use only the rows say which organization it belongs to.
    const organizationId =
      this.remembered.get(fingerprint(key))?.principal.organizationId ??
      (await findApiKey(this.deps.database, secretHash))?.organizationId;
    if (organizationId === undefined) throw invalidCredentials();
    const version = await this.deps.versions.current(organizationId);
    const row = await findApiKey(this.deps.database, secretHash);
    return this.remember(key, row, version, null);
  }

  private async resolveToken(token: string): Promise<KnownCredential> {
    const claims = await this.deps.tokens.verify(token, this.deps.clock());
    if (claims === null) throw invalidCredentials();
    const { organizationId, sessionId } = claims;
    const version = await this.deps.versions.current(organizationId);
    const row = await findSession(this.deps.database, organizationId, sessionId);
    if (row?.userId !== claims.userId) throw invalidCredentials();
    return this.remember(token, row, version, claims);
  }

  private remember(
    credential: string,
    row: CredentialRow | null,
    version: string | null,
    claims: AccessClaims | null,
  ): KnownCredential {
    const now = this.deps.clock();
    const key = fingerprint(credential);
    this.remembered.delete(key);
    if (row === null || !isUsable(row, now)) throw invalidCredentials();
    const known: Remembered = {
      principal: toPrincipal(row),
      version: version ?? '',
      validUntil: Math.min(
        now + MAX_AGE_MS,
        row.expiresAt === null ? Infinity : Date.parse(row.expiresAt),
        claims === null ? Infinity : claims.expiresAt * 1000,
      ),
    };
    if (version !== null) {
      if (this.remembered.size >= CACHE_LIMIT) {
        this.remembered.delete(this.remembered.keys().next().value!);
      }
      this.remembered.set(key, known);
    }
    return known;
  }
}

function isUsable(row: CredentialRow, now: number): boolean {
  return (
    row.organizationStatus === 'active' &&
    row.active &&
    row.revokedAt === null &&
    (row.expiresAt === null || Date.parse(row.expiresAt) > now)
  );
}

function toPrincipal(row: CredentialRow): Principal {
  const isSession = row.scopes === null;
  return {
    type: isSession ? 'session' : 'api_key',
    organizationId: row.organizationId,
    userId: row.userId,
    userName: row.userName,
    // Platform controls need the person: a superadmin's key is an admin's in their organization.
    role: !isSession && row.role === 'superadmin' ? 'admin' : row.role,
    scopes: isSession ? scopesOfRole(row.role) : effectiveScopes(row.role, row.scopes!),
    credentialId: row.credentialId,
    departmentIds: row.departmentIds,
  };
}

/** Memory holds no usable credential. */
function fingerprint(credential: string): string {
  return hash('sha256', credential, 'base64url');
}
