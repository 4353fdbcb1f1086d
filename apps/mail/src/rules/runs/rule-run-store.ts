import type { RuleActionType, RuleRunRecord } from '@dak/contracts/api';
import type { Principal } from '@dak/kernel';
import { insertOfRows, type SqlExecutor } from '@dak/platform/postgres';
import { SqlParameters, storable } from '../../db/sql-parameters';
import { conversationIsOpen } from '../../mailboxes/visibility-store';

/** Days that runs are kept: those that did something, and those that only explain why nothing was done. */
export const KEEP_MATCHED_DAYS = 90;
export const KEEP_MISSED_DAYS = 14;

export interface ActionOutcome {
  readonly type: RuleActionType;
  readonly outcome: 'done' | 'skipped' | 'failed';
  readonly error: string | null;
}

export type RuleRun = RuleRunRecord & { readonly event_id: string };

const COLUMNS = `n.id, n.rule_id, n.rule_name, n.rule_version, n.mailbox_id, n.conversation_id, n.message_id,
  n.matched, n.conditions, n.actions, n.at, n.trace_id`;

export async function insertRuleRuns(
  tx: SqlExecutor,
  organizationId: string,
  runs: readonly RuleRun[],
): Promise<void> {
  if (runs.length === 0) return;
  const rows = runs.map((run) => ({ ...run, organization_id: organizationId }));
  await tx.query(insertOfRows('rule_run', rows), [JSON.stringify(rows, storable)]);
}

export interface RunFilter {
  readonly ruleId?: string;
  readonly conversationId?: string;
  readonly matched: boolean | null;
}

/** Newest first; only those in conversations that the caller may read now. */
export async function selectRuleRuns(
  tx: SqlExecutor,
  principal: Principal,
  filter: RunFilter,
  window: { after: readonly unknown[] | null; offset: number; limit: number },
): Promise<{ rows: RuleRunRecord[]; total: number }> {
  const parameters = new SqlParameters();
  const organization = parameters.add(principal.organizationId);
  const where = [`n.organization_id = ${organization}`];
  if (filter.ruleId !== undefined) where.push(`n.rule_id = ${parameters.add(filter.ruleId)}`);
  if (filter.conversationId !== undefined) {
    where.push(`c.id = ${parameters.add(filter.conversationId)}`);
  }
  if (filter.matched !== null) where.push(`n.matched = ${parameters.add(filter.matched)}`);
  where.push(conversationIsOpen(principal, 'read', 'c', parameters));
  // A message may have moved since: it is read where it is now.
  const from = `rule_run n
       join message m on m.organization_id = n.organization_id and m.id = n.message_id
       join conversation c on c.organization_id = m.organization_id and c.id = m.conversation_id
       join mailbox b on b.organization_id = c.organization_id and b.id = c.mailbox_id and b.deleted_at is null`;
  const { rows: counts } = await tx.query<{ total: number }>(
    `select count(*) as total from (select from ${from} where ${where.join(' and ')} limit 10001) counted`,
    [...parameters.values],
  );
  if (window.after !== null) where.push(`n.id < ${parameters.add(window.after[0])}::uuid`);
  const { rows } = await tx.query<RuleRunRecord>(
    `select ${COLUMNS}
       from ${from}
      where ${where.join(' and ')}
      order by n.id desc
      limit ${parameters.add(window.limit)} offset ${parameters.add(window.offset)}`,
    parameters.values,
  );
  return { rows, total: counts[0]!.total };
}

const BATCH = 1_000;

/** Removes old rows. @returns rows removed */
export async function sweepRuleRecords(tx: SqlExecutor): Promise<number> {
  const removed = [];
  for (const [matched, days] of [
    [true, KEEP_MATCHED_DAYS],
    [false, KEEP_MISSED_DAYS],
  ] as const) {
    removed.push(
      await tx.query(
        `delete from rule_run
          where ctid = any(array(
                select ctid from rule_run
                 where matched = $1 and at < now() - make_interval(days => $2) limit ${BATCH}))`,
        [matched, days],
      ),
    );
  }
  removed.push(
    await tx.query(
      `delete from rule_reply
        where ctid = any(array(
              select ctid from rule_reply where sent_at < now() - interval '4 days' limit ${BATCH}))`,
    ),
    await tx.query(
      `delete from rule_dry_run
        where ctid = any(array(
              select ctid from rule_dry_run where finished_at < now() - interval '7 days' limit ${BATCH}))`,
    ),
  );
  return removed.reduce((sum, { rowCount }) => sum + rowCount, 0);
}
