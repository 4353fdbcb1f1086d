import type { RuleDryRunRecord } from '@dak/contracts/api';
import type { Document, GetRuleDryRunRequest } from '@dak/contracts/mail';
import { NotFoundError, isUuid } from '@dak/kernel';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes } from '@dak/platform/paging';
import { ownerFilter } from '../definition/load-rule';
import type { RuleDeps } from '../definition/rule-deps';
import { selectDryRun, selectReadable, type DryRunRow } from './dry-run-store';

/**
 * Samples of conversations that the caller may not read any more are left out; the numbers stay.
 * @throws NotFoundError also for another user's, unless the caller is an admin
 */
export async function getDryRun(
  { database }: Pick<RuleDeps, 'database'>,
  { id }: GetRuleDryRunRequest,
  { principal }: CallContext,
): Promise<Document> {
  const { organizationId } = principal;
  if (!isUuid(id)) throw new NotFoundError('dry run');
  return database.inTenant(organizationId, async (tx) => {
    const row = await selectDryRun(tx, organizationId, ownerFilter(principal), id);
    if (row === null) throw new NotFoundError('dry run');
    const conversations = row.samples.map(({ conversation_id }) => conversation_id);
    const readable = await selectReadable(tx, principal, conversations);
    // Samples reveal mail, which a caller who manages rules need not be allowed to read.
    const samples = principal.scopes.includes('mail.read')
      ? row.samples.filter(({ conversation_id }) => readable.has(conversation_id))
      : [];
    return dryRunDocument({ ...row, samples });
  });
}

export function dryRunDocument(row: DryRunRow): Document {
  const record: RuleDryRunRecord = {
    id: row.id,
    rule_id: row.rule_id,
    status: row.status,
    from: row.from_at,
    to: row.to_at,
    progress: { examined: row.examined, total: row.total },
    examined: row.examined,
    matched: row.matched,
    conversations: row.conversations,
    condition_hits: row.condition_hits.map((matched, index) => ({ index, matched })),
    samples: row.samples,
    error: row.error,
    created_at: row.created_at,
    finished_at: row.finished_at,
  };
  return { id: row.id, version: 0, json: jsonBytes(record), replayed: false };
}
