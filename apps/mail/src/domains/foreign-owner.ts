import type { Database } from '@dak/platform/postgres';
import { removeDomain, selectOwners } from './domain-store';

/**
 * The first of these domains that another organization owns; null if none. A name reserved for
 * an organization that never came to be is free again.
 */
export async function findForeignOwner(
  database: Database,
  organizationId: string,
  names: readonly string[],
): Promise<string | null> {
  if (names.length === 0) return null;
  const owners = await database.asWorker((tx) => selectOwners(tx, names));
  let first: string | null = null;
  for (const owner of owners) {
    if (owner.organization_id === organizationId) continue;
    if (owner.is_abandoned) {
      await database.inTenant(owner.organization_id, (tx) =>
        removeDomain(tx, owner.organization_id, owner.id),
      );
    } else {
      first ??= owner.name;
    }
  }
  return first;
}
