import type { RuleDryRunRecord } from '@dak/contracts/api';
import type { Principal, Role } from '@dak/kernel';
import { insertOfRows, tableColumns, type SqlExecutor } from '@dak/platform/postgres';
import { SqlParameters, storable } from '../../db/sql-parameters';
import { conversationIsOpen, livingConversation } from '../../mailboxes/visibility-store';
import type { RuleDefinition } from '../definition/rule';

/** A row of `rule_dry_run`; times are RFC 3339 UTC. */
export interface DryRunRow {
  id: string;
  rule_id: string | null;
  definition: RuleDefinition;
  user_id: string;
  user_role: Role;
  department_ids: string[];
  from_at: string;
  to_at: string;
  status: RuleDryRunRecord['status'];
  total: number | null;
  examined: number;
  matched: number;
  conversations: number;
  /** How often each condition held, by its index. */
  condition_hits: number[];
  samples: RuleDryRunRecord['samples'];
  position: string | null;
  attempts: number;
  error: string | null;
  created_at: string;
  finished_at: string | null;
}

const DRY_RUN = tableColumns<DryRunRow>('rule_dry_run', {
  id: 'fixed',
  rule_id: 'fixed',
  definition: 'fixed',
  user_id: 'fixed',
  user_role: 'fixed',
  department_ids: 'fixed',
  from_at: 'fixed',
  to_at: 'fixed',
  status: 'changes',
  total: 'changes',
  examined: 'changes',
  matched: 'changes',
  conversations: 'changes',
  condition_hits: 'changes',
  samples: 'changes',
  position: 'changes',
  attempts: 'changes',
  error: 'changes',
  created_at: 'fixed',
  finished_at: 'changes',
});

type NewDryRun = Pick<
  DryRunRow,
  | 'id'
  | 'rule_id'
  | 'definition'
  | 'user_id'
  | 'user_role'
  | 'department_ids'
  | 'from_at'
  | 'to_at'
  | 'condition_hits'
  | 'created_at'
>;

export async function insertDryRun(
  tx: SqlExecutor,
  organizationId: string,
  row: NewDryRun,
): Promise<void> {
  const rows = [{ ...row, organization_id: organizationId }];
  await tx.query(insertOfRows('rule_dry_run', rows), [JSON.stringify(rows, storable)]);
}

/** Dry runs of an organization that are not finished. */
export async function countRunningDryRuns(
  tx: SqlExecutor,
  organizationId: string,
): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select count(*) from rule_dry_run where organization_id = $1 and status = 'running'`,
    [organizationId],
  );
  return rows[0]!.count;
}

/** `userId` null: whoever asked for it. */
export async function selectDryRun(
  tx: SqlExecutor,
  organizationId: string,
  userId: string | null,
  id: string,
): Promise<DryRunRow | null> {
  const { rows } = await tx.query<DryRunRow>(
    `select ${DRY_RUN.list('d')}
       from rule_dry_run d
      where d.organization_id = $1 and d.id = $2 and ($3::uuid is null or d.user_id = $3)`,
    [organizationId, id, userId],
  );
  return rows[0] ?? null;
}

/** Which of these conversations the caller may read now. */
export async function selectReadable(
  tx: SqlExecutor,
  principal: Principal,
  conversationIds: readonly string[],
): Promise<Set<string>> {
  const parameters = new SqlParameters();
  const organization = parameters.add(principal.organizationId);
  const ids = parameters.add(conversationIds);
  const living = livingConversation(organization, 'asked.id');
  const { rows } = await tx.query<{ id: string }>(
    `select asked.id
       from unnest(${ids}::uuid[]) asked(id)
       join conversation c on c.organization_id = ${organization} and c.id = ${living}
       join mailbox b on b.organization_id = c.organization_id and b.id = c.mailbox_id and b.deleted_at is null
      where true
        and ${conversationIsOpen(principal, 'read', 'c', parameters)}`,
    parameters.values,
  );
  return new Set(rows.map(({ id }) => id));
}

/** Claims the oldest unclaimed one for `leaseSeconds`. */
export async function claimDryRun(
  tx: SqlExecutor,
  owner: string,
  leaseSeconds: number,
): Promise<(DryRunRow & { organization_id: string }) | null> {
  const { rows } = await tx.query<DryRunRow & { organization_id: string }>(
    `update rule_dry_run d
        set lease_owner = $1, lease_until = now() + make_interval(secs => $2), attempts = d.attempts + 1
      where (d.organization_id, d.id) = (
            select organization_id, id
              from rule_dry_run
             where status = 'running' and (lease_until is null or lease_until < now())
             order by created_at
             limit 1
               for update skip locked)
  returning d.organization_id, ${DRY_RUN.list('d')}`,
    [owner, leaseSeconds],
  );
  return rows[0] ?? null;
}

/** Releases the claims of this process's former life. */
export async function takeBackDryRuns(tx: SqlExecutor, owner: string): Promise<void> {
  await tx.query(
    `update rule_dry_run set lease_until = null where lease_owner = $1 and status = 'running'`,
    [owner],
  );
}

export type DryRunProgress = Pick<
  DryRunRow,
  'total' | 'examined' | 'matched' | 'condition_hits' | 'samples' | 'position' | 'status' | 'error'
>;

/**
 * Stores how far a dry run is and counts the conversations of `hits`, each once.
 * @returns false if another process has taken it over
 */
export async function saveDryRunProgress(
  tx: SqlExecutor,
  organizationId: string,
  id: string,
  owner: string,
  leaseSeconds: number,
  progress: DryRunProgress,
  hits: readonly string[],
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update rule_dry_run
        set total = $4, examined = $5, matched = $6, condition_hits = $7, samples = $8, position = $9, status = $10,
            error = $11, attempts = 0, lease_until = now() + make_interval(secs => $12),
            finished_at = case when $10 <> 'running' then now() end
      where organization_id = $1 and id = $2 and lease_owner = $3 and status = 'running'`,
    [
      organizationId,
      id,
      owner,
      progress.total,
      progress.examined,
      progress.matched,
      JSON.stringify(progress.condition_hits),
      JSON.stringify(progress.samples, storable),
      progress.position,
      progress.status,
      progress.error,
      leaseSeconds,
    ],
  );
  if (rowCount === 0) return false;
  if (hits.length === 0) return true;
  const { rowCount: fresh } = await tx.query(
    `insert into rule_dry_run_hit (organization_id, dry_run_id, conversation_id)
     select distinct $1::uuid, $2::uuid, c from unnest($3::uuid[]) as c
         on conflict do nothing`,
    [organizationId, id, hits],
  );
  await tx.query(
    'update rule_dry_run set conversations = conversations + $3 where organization_id = $1 and id = $2',
    [organizationId, id, fresh],
  );
  return true;
}

export interface PastMessage {
  readonly id: string;
  readonly conversation_id: string;
  readonly labels: string[];
}

export interface PastWindow {
  readonly mailboxIds: readonly string[];
  /** RFC 3339 UTC, on received_at. */
  readonly from: string;
  readonly to: string;
}

/**
 * The next received messages that the caller sees, after `position` in the order of ids. A bounded
 * number of rows is examined, so that no statement takes long; `end` is where the next call begins,
 * null at the last row.
 */
export async function selectPastMessages(
  tx: SqlExecutor,
  principal: Principal,
  { mailboxIds, from, to }: PastWindow,
  position: string | null,
  scan: number,
): Promise<{ rows: PastMessage[]; end: string | null }> {
  const parameters = new SqlParameters();
  const organization = parameters.add(principal.organizationId);
  const after = parameters.add(position);
  const isOpen = conversationIsOpen(principal, 'read', 'c', parameters);
  const { rows } = await tx.query<PastMessage & { is_asked: boolean | null }>(
    `select m.id, m.conversation_id, c.labels,
            m.direction = 'inbound' and coalesce(m.received_at, m.sort_at) >= ${parameters.add(from)}
            and coalesce(m.received_at, m.sort_at) <= ${parameters.add(to)}
            and (${parameters.add(mailboxIds)}::uuid[] = '{}' or m.mailbox_id = any(${parameters.add(mailboxIds)}::uuid[]))
            and b.deleted_at is null and ${isOpen} as is_asked
       from (select id, conversation_id, mailbox_id, direction, received_at, sort_at, organization_id
               from message
              where organization_id = ${organization} and (${after}::uuid is null or id > ${after}::uuid)
              order by id
              limit ${parameters.add(scan)}) m
       join conversation c on c.organization_id = m.organization_id and c.id = m.conversation_id
       join mailbox b on b.organization_id = m.organization_id and b.id = m.mailbox_id
      order by m.id`,
    parameters.values,
  );
  return {
    rows: rows.filter((row) => row.is_asked === true),
    end: rows.length < scan ? null : rows.at(-1)!.id,
  };
}

/** How many messages {@link selectPastMessages} leads to. */
export async function countPastMessages(
  tx: SqlExecutor,
  principal: Principal,
  { mailboxIds, from, to }: PastWindow,
): Promise<number> {
  const parameters = new SqlParameters();
  const organization = parameters.add(principal.organizationId);
  const isOpen = conversationIsOpen(principal, 'read', 'c', parameters);
  const { rows } = await tx.query<{ count: number }>(
    `select count(*)
       from message m
       join conversation c on c.organization_id = m.organization_id and c.id = m.conversation_id
       join mailbox b on b.organization_id = m.organization_id and b.id = m.mailbox_id and b.deleted_at is null
      where m.organization_id = ${organization} and m.direction = 'inbound'
        and coalesce(m.received_at, m.sort_at) between ${parameters.add(from)} and ${parameters.add(to)}
        and (${parameters.add(mailboxIds)}::uuid[] = '{}' or m.mailbox_id = any(${parameters.add(mailboxIds)}::uuid[]))
        and ${isOpen}`,
    parameters.values,
  );
  return rows[0]!.count;
}
