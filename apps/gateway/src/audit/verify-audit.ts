import type { Database } from '@dak/platform/postgres';
import { auditHash, GENESIS_HASH } from './audit-entry';
import { chainStatement, headStatement, toAuditRow } from './audit-store';

export interface AuditVerdict {
  valid: boolean;
  checked: number;
  /** First entry whose hash or position in the chain is wrong; null also when entries are missing at the end. */
  firstBadId: string | null;
}

const BATCH = 500;

/** Recomputes an organization's chain in batches, so that its length costs time and not memory. */
export async function verifyAudit(
  database: Database,
  organizationId: string,
): Promise<AuditVerdict> {
  // The head first: entries that are added meanwhile only make the chain longer than it says.
  const [heads] = await database.batchInTenant(organizationId, [headStatement(organizationId)]);
  const head = (heads?.[0] ?? { entries: 0, hash: GENESIS_HASH }) as {
    entries: number;
    hash: string;
  };
  let previousHash = GENESIS_HASH;
  let checked = 0;
  for (;;) {
    const [rows] = await database.batchInTenant(organizationId, [
      chainStatement(organizationId, checked, BATCH),
    ]);
    for (const record of rows!) {
      const { hash, ...entry } = toAuditRow(organizationId, record);
      const fits =
        entry.sequence === checked + 1 &&
        entry.previousHash === previousHash &&
        auditHash(entry) === hash &&
        (entry.sequence !== head.entries || hash === head.hash);
      if (!fits) return { valid: false, checked, firstBadId: entry.id };
      previousHash = hash;
      checked += 1;
    }
    if (rows!.length < BATCH) break;
  }
  return { valid: checked >= head.entries, checked, firstBadId: null };
}
