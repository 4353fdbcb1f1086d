import { uuidv7 } from '@dak/kernel';
import type { Pool } from 'pg';
import { inTransaction } from './sql-transaction';

/** Separates a process's name from the identifier of its current life. */
const SEPARATOR = '#';

const FREE = [
  `update log_shard_lease set owner = null, lease_until = '-infinity' where starts_with(owner, $1)`,
  `update consumer_offset set owner = null, lease_until = '-infinity' where starts_with(owner, $1)`,
  `update parked_key set replay_owner = null, replay_until = '-infinity' where starts_with(replay_owner, $1)`,
  `delete from consumer_member where starts_with(member, $1)`,
];

/**
 * An owner of leases: of the named process alone, and of this life of it. A process without a name has
 * owners that no other life knows.
 */
export function newOwner(processName: string | undefined): string {
  return processName === undefined ? uuidv7() : `${processName}${SEPARATOR}${uuidv7()}`;
}

/**
 * Releases the leases that killed former lives of the process left behind, so that no member
 * waits for their end. Epochs stay: one that lives on against all knowledge is fenced by the next claim.
 */
export async function freeFormerLeases(pool: Pool, processName: string | undefined): Promise<void> {
  if (processName === undefined) return;
  await inTransaction(pool, async (client) => {
    for (const statement of FREE) await client.query(statement, [processName + SEPARATOR]);
  });
}
