import type { Right } from '@dak/contracts/rights';
import { ForbiddenError, type Principal, type Scope } from '@dak/kernel';
import { anyScope } from './route';

export type AccessCheck = (principal: Principal) => void;
export type BodyAccessCheck = (principal: Principal, body: unknown) => void;

/**
 * The check of one route, ready to run.
 * @returns a function that throws ForbiddenError naming the missing right
 */
export function compileAccess(right: Right): AccessCheck {
  const { also = [], role, session } = right;
  if (role === 'superadmin') return requireSuperadminSession;
  const anyOf = anyScope(right);
  return (principal) => {
    if (session === true && principal.type !== 'session') throw sessionRequired('This');
    const { scopes } = principal;
    if (anyOf.length > 0 && !anyOf.some((scope) => scopes.includes(scope))) {
      throw missingScope(anyOf);
    }
    const missing = also.filter((scope) => !scopes.includes(scope));
    if (missing.length > 0) throw missingScope(missing.slice(0, 1));
    if (role === 'admin' && principal.role === 'user') {
      throw new ForbiddenError('This needs the role admin in the organization.', 'missing_role');
    }
  };
}

/**
 * Checks the rights that a body's fields require.
 * @returns null when a key may send the whole body; else a function that throws ForbiddenError and names the member
 */
export function compileBodyAccess({ sessionMembers: members }: Right): BodyAccessCheck | null {
  if (members === undefined) return null;
  return (principal, body) => {
    if (principal.type === 'session') return;
    for (const { member, unless } of members) {
      const value = (body as Record<string, unknown>)[member];
      if (value !== undefined && value !== unless) throw sessionRequired(member);
    }
  };
}

function sessionRequired(what: string): ForbiddenError {
  return new ForbiddenError(
    `${what} needs a person: an API key cannot do it, sign in with POST /api/v1/auth/login.`,
    'session_required',
  );
}

function requireSuperadminSession(principal: Principal): void {
  if (principal.role === 'superadmin' && principal.type === 'session') return;
  throw new ForbiddenError('This needs the session of a superadmin.', 'superadmin_required');
}

/** @param anyOf of which one would do */
export function missingScope(anyOf: readonly Scope[]): ForbiddenError {
  const names = anyOf.join(' or ');
  return new ForbiddenError(
    `The scope ${names} is missing: use a key or session that has it.`,
    'missing_scope',
  );
}
