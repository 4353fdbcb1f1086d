import type { RuleAction } from '@dak/contracts/api';
import { ForbiddenError, InvalidError, seesWholeOrganization, type Principal } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { Access } from '../../mailboxes/visibility-store';
import { selectTemplate } from '../../sending/templates/template-store';
import { selectVisibleMailboxes } from './reference-store';
import { isSend, type RuleDefinition } from './rule';

/**
 * Checks that need the tables: that the caller has the rule's access to every mailbox, and
 * that its templates exist. Users, departments and webhooks are not the mail service's and have been
 * checked before.
 * @throws InvalidError naming `mailbox_ids[0]` or `actions[0].template_id`
 * @throws ForbiddenError when the rule sends mail and the caller may not
 */
export async function checkReferences(
  tx: SqlExecutor,
  principal: Principal,
  rule: RuleDefinition,
): Promise<void> {
  const sends = rule.actions.some(({ type }) => isSend(type));
  if (sends && !principal.scopes.includes('mail.send')) {
    throw new ForbiddenError(
      'A rule that forwards or replies sends mail for you, which needs the scope mail.send.',
      'missing_scope',
    );
  }
  if (rule.mailbox_ids.length === 0 && !seesWholeOrganization(principal)) {
    throw new InvalidError(
      'mailbox_ids must name mailboxes that you see: only an admin makes rules for all mailboxes.',
    );
  }
  await checkMailboxes(tx, principal, rule.mailbox_ids, accessOf(rule.actions));
  for (const [index, action] of rule.actions.entries()) {
    if (action.type !== 'reply_with_template') continue;
    const template = await selectTemplate(tx, principal.organizationId, action.template_id, {
      version: action.template_version ?? null,
    });
    if (template === null) {
      throw new InvalidError(
        `actions[${index}].template_id is not a template of this organization: GET /templates lists them.`,
      );
    }
    const declared = new Set(template.variables.map(({ name }) => name));
    const unknown = Object.keys(action.variables).find((name) => !declared.has(name));
    if (unknown !== undefined) {
      throw new InvalidError(
        `actions[${index}].variables.${unknown} is not a variable of the template: use ${[...declared].join(', ') || 'none'}.`,
      );
    }
  }
}

/** The access level that an action needs in the mailbox of the mail. */
export function accessOf(actions: readonly RuleAction[]): Access {
  // Whoever is in the department of a conversation may send there.
  if (actions.some(({ type }) => isSend(type) || type === 'set_department')) return 'send';
  return actions.every(({ type }) => type === 'notify_webhook') ? 'read' : 'write';
}

async function checkMailboxes(
  tx: SqlExecutor,
  principal: Principal,
  ids: readonly string[],
  access: Access,
): Promise<void> {
  if (ids.length === 0) return;
  const open = await selectVisibleMailboxes(tx, principal, ids, access);
  ids.forEach((id, index) => {
    if (!open.has(id)) {
      throw new InvalidError(
        `mailbox_ids[${index}] is not a mailbox that you see: GET /mailboxes lists them.`,
      );
    }
    if (open.get(id) === false) {
      throw new ForbiddenError(
        `mailbox_ids[${index}]: your assignment to this mailbox does not include the access level ${access}, which the rule needs. Ask an admin to raise it.`,
        'missing_access',
      );
    }
  });
}
