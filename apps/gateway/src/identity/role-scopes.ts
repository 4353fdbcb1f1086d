import { SCOPES, type Role, type Scope } from '@dak/kernel';

/** What concerns the whole organization is for admins; everything else is held to a user's visibility anyway. */
const ADMIN_ONLY: ReadonlySet<Scope> = new Set<Scope>([
  'admin.manage',
  'mailboxes.manage',
  'domains.manage',
  'departments.manage',
  'suppressions.manage',
  'brand.manage',
]);

const USER_SCOPES: readonly Scope[] = SCOPES.filter((scope) => !ADMIN_ONLY.has(scope));

/** All a person of this role may do; their session has all of it, their API keys a part. */
export function scopesOfRole(role: Role): readonly Scope[] {
  return role === 'user' ? USER_SCOPES : SCOPES;
}

/** A key's own scopes, as far as its creator's current role still has them; in the order of the specification. */
export function effectiveScopes(role: Role, selected: readonly string[]): readonly Scope[] {
  const chosen = new Set(selected);
  return scopesOfRole(role).filter((scope) => chosen.has(scope));
}
