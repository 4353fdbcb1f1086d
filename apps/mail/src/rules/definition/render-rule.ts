import type { RuleRecord, RuleVersionRecord } from '@dak/contracts/api';
import type { Document } from '@dak/contracts/mail';
import { jsonBytes } from '@dak/platform/paging';
import type { RuleDefinition } from './rule';
import type { RuleVersionRow, RuleWithStats } from './rule-store';

export function ruleDocument(row: RuleWithStats): Document {
  const { id, version } = row.rule;
  return { id, version, json: jsonBytes(ruleRecord(row)), replayed: false };
}

export function ruleRecord({ rule, stats }: RuleWithStats): RuleRecord {
  return {
    id: rule.id,
    ...definitionRecord(rule),
    status: rule.disabled_reason === null ? 'active' : 'disabled',
    disabled_reason: rule.disabled_reason,
    version: rule.version,
    created_by: rule.owner.userId,
    created_by_name: rule.owner.userName,
    stats: {
      evaluated: stats.evaluated,
      matched: stats.matched,
      last_matched_at: stats.last_matched_at,
    },
    created_at: rule.created_at,
    updated_at: rule.updated_at,
  };
}

export function ruleVersionRecord(row: RuleVersionRow): RuleVersionRecord {
  return {
    rule_id: row.rule_id,
    version: row.version,
    ...definitionRecord(row.definition),
    changed_by: row.changed_by,
    changed_by_name: row.changed_by_name,
    changed_at: row.changed_at,
  };
}

function definitionRecord(
  rule: RuleDefinition,
): Omit<
  RuleVersionRecord,
  'rule_id' | 'version' | 'changed_by' | 'changed_by_name' | 'changed_at'
> {
  return {
    name: rule.name,
    kind: rule.kind,
    enabled: rule.enabled,
    priority: rule.priority,
    mailbox_ids: [...rule.mailbox_ids],
    match: rule.match,
    conditions: rule.conditions.map(({ field, operator, value, negate }) => ({
      field,
      operator,
      value: typeof value === 'object' && value !== null ? [...value] : value,
      negate,
    })),
    actions: rule.actions.map((action) => ({ ...action })),
    stop: rule.stop,
  };
}
