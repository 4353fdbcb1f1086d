import { ForbiddenError, seesWholeOrganization, type Principal } from '@dak/kernel';

/** The label that keeps a conversation whatever the retention says. */
export const LEGAL_HOLD = 'legal-hold';

/**
 * To take it away lets mail be removed for good: that is for admins, and not for a key that may only write.
 * @param principal null for a rule
 * @throws ForbiddenError `missing_role` or `missing_scope`
 */
export function requireMayRelease(
  principal: Principal | null,
  before: readonly string[],
  after: readonly string[],
): void {
  if (!before.includes(LEGAL_HOLD) || after.includes(LEGAL_HOLD)) return;
  if (principal === null || !seesWholeOrganization(principal)) {
    throw new ForbiddenError(
      `${LEGAL_HOLD} keeps mail from being removed: only an admin takes it away.`,
      'missing_role',
    );
  }
  if (!principal.scopes.includes('admin.manage')) {
    throw new ForbiddenError(
      `The scope admin.manage is missing: ${LEGAL_HOLD} keeps mail from being removed.`,
      'missing_scope',
    );
  }
}
