import type { RuleAction, RuleCondition } from '@dak/contracts/api';
import { tableColumns, type SqlExecutor } from '@dak/platform/postgres';
import type { Role } from '@dak/kernel';
import { storable } from '../../db/sql-parameters';
import type { Rule, RuleDefinition, RuleOwner } from './rule';

/** A row of `rule`; times are RFC 3339 UTC. */
interface RuleRow {
  id: string;
  name: string;
  kind: RuleDefinition['kind'];
  enabled: boolean;
  priority: number;
  mailbox_ids: string[];
  match: RuleDefinition['match'];
  conditions: RuleCondition[];
  actions: RuleAction[];
  stop: boolean;
  version: number;
  owner_id: string;
  owner_name: string;
  owner_role: Role;
  owner_department_ids: string[];
  key_ids: string[] | null;
  disabled_reason: Rule['disabled_reason'];
  created_at: string;
  updated_at: string;
}

export interface RuleStats {
  readonly evaluated: number;
  readonly matched: number;
  /** RFC 3339 UTC. */
  readonly last_matched_at: string | null;
}

export interface RuleWithStats {
  readonly rule: Rule;
  readonly stats: RuleStats;
}

export interface RuleVersionRow {
  readonly rule_id: string;
  readonly version: number;
  readonly definition: RuleDefinition;
  readonly changed_by: string;
  readonly changed_by_name: string;
  readonly changed_at: string;
}

const RULE = tableColumns<RuleRow>('rule', {
  id: 'fixed',
  name: 'changes',
  kind: 'changes',
  enabled: 'changes',
  priority: 'changes',
  mailbox_ids: 'changes',
  match: 'changes',
  conditions: 'changes',
  actions: 'changes',
  stop: 'changes',
  version: 'changes',
  owner_id: 'fixed',
  owner_name: 'changes',
  owner_role: 'changes',
  owner_department_ids: 'changes',
  key_ids: 'changes',
  disabled_reason: 'changes',
  created_at: 'fixed',
  updated_at: 'changes',
});
const COLUMNS = RULE.list('r');

const VERSION = tableColumns<RuleVersionRow>('rule_version', {
  rule_id: 'fixed',
  version: 'fixed',
  definition: 'fixed',
  changed_by: 'fixed',
  changed_by_name: 'fixed',
  changed_at: 'fixed',
});

const STATS = `left join lateral (
         select coalesce(sum(t.evaluated), 0)::bigint as evaluated, coalesce(sum(t.matched), 0)::bigint as matched,
                max(t.last_matched_at) as last_matched_at
           from rule_tally t
          where t.organization_id = r.organization_id and t.rule_id = r.id) s on true`;

/** A regular user has their own rules, an admin those of the organization: `$2` is null then. */
const MINE = `r.organization_id = $1 and ($2::uuid is null or r.owner_id = $2)`;

/** All rules that run. */
export async function selectEnabledRules(tx: SqlExecutor, organizationId: string): Promise<Rule[]> {
  const { rows } = await tx.query<RuleRow>(
    `select ${COLUMNS} from rule r where r.organization_id = $1 and r.enabled and r.disabled_reason is null`,
    [organizationId],
  );
  return rows.map(toRule);
}

/** In the order in which they run. */
export async function selectRulePage(
  tx: SqlExecutor,
  organizationId: string,
  ownerId: string | null,
  window: { after: readonly unknown[] | null; offset: number; limit: number },
): Promise<{ rows: RuleWithStats[]; total: number }> {
  const [priority = null, createdAt = null, id = null] = window.after ?? [];
  const { rows } = await tx.query<RuleRow & RuleStats>(
    `select ${COLUMNS}, s.evaluated, s.matched, s.last_matched_at
       from rule r ${STATS}
      where ${MINE}
        and ($3::integer is null or (r.priority, r.created_at, r.id) > ($3, $4::timestamptz, $5::uuid))
      order by r.priority, r.created_at, r.id
      limit $6 offset $7`,
    [organizationId, ownerId, priority, createdAt, id, window.limit, window.offset],
  );
  const { rows: counts } = await tx.query<{ total: number }>(
    `select count(*) as total from rule r where ${MINE}`,
    [organizationId, ownerId],
  );
  return { rows: rows.map(withStats), total: counts[0]!.total };
}

export async function selectRule(
  tx: SqlExecutor,
  organizationId: string,
  ownerId: string | null,
  id: string,
  options: { lock?: boolean } = {},
): Promise<RuleWithStats | null> {
  const { rows } = await tx.query<RuleRow & RuleStats>(
    `select ${COLUMNS}, s.evaluated, s.matched, s.last_matched_at
       from rule r ${STATS}
      where ${MINE} and r.id = $3
      ${options.lock === true ? 'for update of r' : ''}`,
    [organizationId, ownerId, id],
  );
  return rows[0] === undefined ? null : withStats(rows[0]);
}

export async function countRules(tx: SqlExecutor, organizationId: string): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    'select count(*) from rule where organization_id = $1',
    [organizationId],
  );
  return rows[0]!.count;
}

/**
 * Says that the rules have changed, in the transaction of the change. It locks, so that the changes of
 * an organization come one after the other and its limit holds.
 */
export async function bumpRuleSet(tx: SqlExecutor, organizationId: string): Promise<void> {
  await tx.query(
    `insert into rule_set as s (organization_id, version) values ($1, 1)
         on conflict (organization_id) do update set version = s.version + 1`,
    [organizationId],
  );
}

/** 0 where there has never been a rule. */
export async function selectRuleSetVersion(
  tx: SqlExecutor,
  organizationId: string,
): Promise<number> {
  const { rows } = await tx.query<{ version: number }>(
    'select version from rule_set where organization_id = $1',
    [organizationId],
  );
  return rows[0]?.version ?? 0;
}

export async function insertRule(
  tx: SqlExecutor,
  organizationId: string,
  rule: Rule,
): Promise<void> {
  await tx.query(RULE.insert, [toJson(organizationId, rule)]);
}

export async function updateRuleRow(
  tx: SqlExecutor,
  organizationId: string,
  rule: Rule,
): Promise<void> {
  await tx.query(
    `update rule r
        set ${RULE.assignments('n')}
       from json_populate_recordset(null::rule, $2) n
      where r.organization_id = $1 and r.id = n.id`,
    [organizationId, toJson(organizationId, rule)],
  );
}

const OF_KEY = `organization_id = $1 and $2 = any(key_ids) and disabled_reason is null`;

export async function hasRulesOfKey(
  tx: SqlExecutor,
  organizationId: string,
  keyId: string,
): Promise<boolean> {
  const { rows } = await tx.query(`select 1 from rule where ${OF_KEY} limit 1`, [
    organizationId,
    keyId,
  ]);
  return rows.length > 0;
}

/** @returns those that ran until now */
export async function disableRulesOfKey(
  tx: SqlExecutor,
  organizationId: string,
  keyId: string,
): Promise<{ id: string; name: string }[]> {
  const { rows } = await tx.query<{ id: string; name: string }>(
    `update rule set disabled_reason = 'key_revoked', updated_at = now() where ${OF_KEY} returning id, name`,
    [organizationId, keyId],
  );
  return rows;
}

/** Its versions go with it; its runs stay until they are too old. */
export async function deleteRuleRow(
  tx: SqlExecutor,
  organizationId: string,
  id: string,
): Promise<void> {
  await tx.query('delete from rule where organization_id = $1 and id = $2', [organizationId, id]);
  await tx.query('delete from rule_tally where organization_id = $1 and rule_id = $2', [
    organizationId,
    id,
  ]);
}

export async function insertRuleVersion(
  tx: SqlExecutor,
  organizationId: string,
  row: RuleVersionRow,
): Promise<void> {
  const json = JSON.stringify([{ ...row, organization_id: organizationId }], storable);
  await tx.query(VERSION.insert, [json]);
}

/** Newest first; the window counts down from `before`. */
export async function selectRuleVersions(
  tx: SqlExecutor,
  organizationId: string,
  ruleId: string,
  window: { before: number | null; offset: number; limit: number },
): Promise<RuleVersionRow[]> {
  const { rows } = await tx.query<RuleVersionRow>(
    `select ${VERSION.list('v')}
       from rule_version v
      where v.organization_id = $1 and v.rule_id = $2 and ($3::integer is null or v.version < $3)
      order by v.version desc
      limit $4 offset $5`,
    [organizationId, ruleId, window.before, window.limit, window.offset],
  );
  return rows;
}

export interface TallyChange {
  readonly ruleId: string;
  readonly evaluated: number;
  readonly matched: number;
}

/** One statement for all rules of a transaction; rules in a fixed order, to avoid deadlocks. */
export async function addToTallies(
  tx: SqlExecutor,
  organizationId: string,
  changes: readonly TallyChange[],
  at: string,
): Promise<void> {
  if (changes.length === 0) return;
  const ordered = [...changes].sort((a, b) => (a.ruleId < b.ruleId ? -1 : 1));
  await tx.query(
    `insert into rule_tally as t (organization_id, rule_id, slot, evaluated, matched, last_matched_at)
     select $1, c.rule_id, pg_backend_pid() % 8, c.evaluated, c.matched,
            case when c.matched > 0 then $5::timestamptz end
       from unnest($2::uuid[], $3::bigint[], $4::bigint[]) as c(rule_id, evaluated, matched)
         on conflict (organization_id, rule_id, slot)
         do update set evaluated       = t.evaluated + excluded.evaluated,
                       matched         = t.matched + excluded.matched,
                       last_matched_at = coalesce(excluded.last_matched_at, t.last_matched_at)`,
    [
      organizationId,
      ordered.map((change) => change.ruleId),
      ordered.map((change) => change.evaluated),
      ordered.map((change) => change.matched),
      at,
    ],
  );
}

function toRule(row: RuleRow): Rule {
  const { owner_id, owner_name, owner_role, owner_department_ids, ...rule } = row;
  const owner: RuleOwner = {
    userId: owner_id,
    userName: owner_name,
    role: owner_role,
    departmentIds: owner_department_ids,
  };
  return { ...rule, owner };
}

function withStats(row: RuleRow & RuleStats): RuleWithStats {
  const { evaluated, matched, last_matched_at, ...rule } = row;
  return { rule: toRule(rule), stats: { evaluated, matched, last_matched_at } };
}

function toJson(organizationId: string, { owner, ...rule }: Rule): string {
  return JSON.stringify(
    [
      {
        ...rule,
        organization_id: organizationId,
        owner_id: owner.userId,
        owner_name: owner.userName,
        owner_role: owner.role,
        owner_department_ids: owner.departmentIds,
      },
    ],
    storable,
  );
}
