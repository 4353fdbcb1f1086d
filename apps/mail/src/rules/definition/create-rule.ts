import { RefusedError, uuidv7, type Principal } from '@dak/kernel';
import { RULE_LIMITS } from '@dak/contracts/api';
import {
  RuleDefinition as RuleFields,
  type CreateRuleRequest,
  type Document,
} from '@dak/contracts/mail';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import { idempotent } from '@dak/platform/idempotency';
import { checkReferences } from './check-references';
import { loadRule } from './load-rule';
import { definitionOf, parseRule } from './parse-rule';
import { pinTemplates } from './pin-templates';
import { ruleDocument } from './render-rule';
import type { Rule, RuleOwner } from './rule';
import type { RuleDeps } from './rule-deps';
import { bumpRuleSet, countRules, insertRule, insertRuleVersion } from './rule-store';

/** @throws InvalidError naming the member, RefusedError `rule_limit` */
export async function createRule(
  { database, clock }: Pick<RuleDeps, 'database' | 'clock'>,
  request: CreateRuleRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { organizationId } = principal;
  const now = clock();
  const parsed = parseRule(request.rule ?? RuleFields.fromPartial({}), now);
  return database.inTenant(organizationId, (tx) =>
    idempotent(tx, context, async () => {
      const definition = await pinTemplates(tx, organizationId, parsed);
      await checkReferences(tx, principal, definition);
      await bumpRuleSet(tx, organizationId);
      if ((await countRules(tx, organizationId)) >= RULE_LIMITS.rules) {
        throw new RefusedError(
          `The organization has ${RULE_LIMITS.rules} rules, which is the limit. Delete one that is not used.`,
          'rule_limit',
        );
      }
      const at = new Date(now).toISOString();
      const rule: Rule = {
        ...definition,
        id: uuidv7(now),
        version: 1,
        owner: ownerOf(principal),
        key_ids: keysOf(principal),
        disabled_reason: null,
        created_at: at,
        updated_at: at,
      };
      await insertRule(tx, organizationId, rule);
      await insertRuleVersion(tx, organizationId, {
        rule_id: rule.id,
        version: 1,
        definition: definitionOf(rule),
        changed_by: principal.userId,
        changed_by_name: principal.userName,
        changed_at: at,
      });
      await noteAudit(tx, context, {
        action: 'rule.created',
        target: { type: 'rule', id: rule.id },
        details: ruleDetails(rule),
      });
      return ruleDocument(await loadRule(tx, principal, rule.id));
    }),
  );
}

/** A rule's details for the audit log: its scope and, above all, where it forwards mail. */
export function ruleDetails({ name, version, enabled, actions }: Rule): Record<string, unknown> {
  return { name, version, enabled, actions };
}

/** Keys of a rule the caller creates, or takes over by re-enabling it; null for a session. */
export function keysOf({ type, credentialId }: Principal): Rule['key_ids'] {
  return type === 'api_key' ? [credentialId] : null;
}

/** The caller as a rule remembers them; a key acts for its person. */
export function ownerOf(principal: Principal): RuleOwner {
  const { userId, userName, role, departmentIds } = principal;
  return { userId, userName, role, departmentIds };
}
