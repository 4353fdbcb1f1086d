import { NotFoundError, isUuid, seesWholeOrganization, type Principal } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { selectRule, type RuleWithStats } from './rule-store';

/** Whose rules the caller sees: null = all of the organization. */
export function ownerFilter(principal: Principal): string | null {
  return seesWholeOrganization(principal) ? null : principal.userId;
}

/** @throws NotFoundError also for another user's rule, unless the caller is an admin */
export async function loadRule(
  tx: SqlExecutor,
  principal: Principal,
  id: string,
  options: { lock?: boolean } = {},
): Promise<RuleWithStats> {
  const found = isUuid(id)
    ? await selectRule(tx, principal.organizationId, ownerFilter(principal), id, options)
    : null;
  if (found === null) throw new NotFoundError('rule');
  return found;
}
