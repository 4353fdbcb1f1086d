import { ForbiddenError, type Principal, type Scope } from '@dak/kernel';
import { scopeRule, type Access } from './route';

export type AccessCheck = (principal: Principal) => void;

/**
 * The check of one route, ready to run.
 * @returns a function that throws ForbiddenError and names what is missing
 */
export function compileAccess(access: Access): AccessCheck {
  if (access === 'session-superadmin') return requireSuperadminSession;
  const rule = scopeRule(access);
  if (rule === null) return () => undefined;
  const { anyOf, role, sessionOnly } = rule;
  return (principal) => {
    if (sessionOnly === true && principal.type !== 'session') {
      throw new ForbiddenError(
        'This needs a person: an API key cannot do it, sign in with POST /api/v1/auth/login.',
        'session_required',
      );
    }
    if (!anyOf.some((scope) => principal.scopes.includes(scope))) throw missingScope(anyOf);
    if (role === 'admin' && principal.role === 'user') {
      throw new ForbiddenError('This needs the role admin in the organization.', 'missing_role');
    }
  };
}

function requireSuperadminSession(principal: Principal): void {
  if (principal.role === 'superadmin' && principal.type === 'session') return;
  throw new ForbiddenError('This needs the session of a superadmin.', 'superadmin_required');
}

function missingScope(anyOf: readonly Scope[]): ForbiddenError {
  const names = anyOf.join(' or ');
  return new ForbiddenError(
    `The scope ${names} is missing: use a key or session that has it.`,
    'missing_scope',
  );
}
