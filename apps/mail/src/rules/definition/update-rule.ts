import { isDeepStrictEqual } from 'node:util';
import { VersionMismatchError, type Principal } from '@dak/kernel';
import {
  RuleDefinition as RuleFields,
  type DeleteRuleRequest,
  type Document,
  type Empty,
  type UpdateRuleRequest,
} from '@dak/contracts/mail';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import { checkReferences } from './check-references';
import { keysOf, ownerOf, ruleDetails } from './create-rule';
import { loadRule } from './load-rule';
import { definitionOf, patchRule } from './parse-rule';
import { pinTemplates } from './pin-templates';
import { ruleDocument } from './render-rule';
import type { Rule, RuleDefinition } from './rule';
import type { RuleDeps } from './rule-deps';
import { bumpRuleSet, deleteRuleRow, insertRuleVersion, updateRuleRow } from './rule-store';

/**
 * Every change is a new version; a request that changes nothing makes none. The rule goes on acting
 * for who made it; when they save it themselves, with their current role and departments.
 * @throws VersionMismatchError, InvalidError naming the member
 */
export function updateRule(
  { database, clock }: Pick<RuleDeps, 'database' | 'clock'>,
  request: UpdateRuleRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { organizationId } = principal;
  return database.inTenant(organizationId, async (tx) => {
    // Before the rule's own lock, as creating does.
    await bumpRuleSet(tx, organizationId);
    const { rule: before, stats } = await loadRule(tx, principal, request.id, { lock: true });
    requireVersion(request.expectedVersion, before.version);
    const now = clock();
    const sent = request.rule ?? RuleFields.fromPartial({});
    const patched = patchRule(before, request.fields, sent, now);
    const definition = request.fields.includes('actions')
      ? await pinTemplates(tx, organizationId, patched)
      : patched;
    const owner = before.owner.userId === principal.userId ? ownerOf(principal) : before.owner;
    const asksToRun = request.fields.includes('enabled') && definition.enabled;
    const resumes = before.disabled_reason !== null && asksToRun;
    const isSame =
      !resumes &&
      isDeepStrictEqual(definitionOf(before), definition) &&
      isDeepStrictEqual(before.owner, owner);
    if (isSame) return ruleDocument({ rule: before, stats });
    if (resumes || reachesFurther(before, definition))
      await checkReferences(tx, principal, definition);
    const at = new Date(now).toISOString();
    const rule: Rule = {
      ...before,
      ...definition,
      owner,
      key_ids: resumes ? keysOf(principal) : keysWith(before, principal),
      disabled_reason: resumes ? null : before.disabled_reason,
      version: before.version + 1,
      updated_at: at,
    };
    await updateRuleRow(tx, organizationId, rule);
    await insertRuleVersion(tx, organizationId, {
      rule_id: rule.id,
      version: rule.version,
      definition,
      changed_by: principal.userId,
      changed_by_name: principal.userName,
      changed_at: at,
    });
    await noteAudit(tx, context, {
      action: 'rule.updated',
      target: { type: 'rule', id: rule.id },
      details: ruleDetails(rule),
    });
    return ruleDocument({ rule, stats });
  });
}

/** @throws NotFoundError, VersionMismatchError */
export function deleteRule(
  { database }: Pick<RuleDeps, 'database'>,
  request: DeleteRuleRequest,
  context: CallContext,
): Promise<Empty> {
  const { principal } = context;
  const { organizationId } = principal;
  return database.inTenant(organizationId, async (tx) => {
    await bumpRuleSet(tx, organizationId);
    const { rule } = await loadRule(tx, principal, request.id, { lock: true });
    requireVersion(request.expectedVersion, rule.version);
    await deleteRuleRow(tx, organizationId, rule.id);
    await noteAudit(tx, context, {
      action: 'rule.deleted',
      target: { type: 'rule', id: rule.id },
      details: { name: rule.name, version: rule.version },
    });
    return {};
  });
}

/**
 * A rule can always be turned off, renamed or moved, also when a mailbox or template that it names is
 * gone; everything else is checked as for a new one.
 */
function reachesFurther(before: RuleDefinition, after: RuleDefinition): boolean {
  const scopeOf = ({ mailbox_ids, match, conditions, actions }: RuleDefinition) => ({
    mailbox_ids,
    match,
    conditions,
    actions,
  });
  return (after.enabled && !before.enabled) || !isDeepStrictEqual(scopeOf(before), scopeOf(after));
}

/** A key that changes a rule becomes one of its keys. */
function keysWith({ key_ids: before }: Rule, principal: Principal): Rule['key_ids'] {
  const own = keysOf(principal);
  return own === null ? before : [...new Set([...(before ?? []), ...own])];
}

function requireVersion(expected: number | undefined, current: number): void {
  if (expected !== undefined && expected !== current) {
    throw new VersionMismatchError('rule', current);
  }
}
