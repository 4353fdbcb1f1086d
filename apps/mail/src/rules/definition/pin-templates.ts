import { InvalidError } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { selectTemplate } from '../../sending/templates/template-store';
import type { RuleDefinition } from './rule';

/**
 * Pins each template to a version: the one given, else the newest. So changing a template
 * does not change what a rule sends until its owner saves the rule again. Templates that
 * do not exist are for `checkReferences`.
 * @throws InvalidError for a version that the template does not have
 */
export async function pinTemplates<R extends Pick<RuleDefinition, 'actions'>>(
  tx: SqlExecutor,
  organizationId: string,
  rule: R,
): Promise<R> {
  const actions = [];
  for (const [index, action] of rule.actions.entries()) {
    if (action.type !== 'reply_with_template') {
      actions.push(action);
      continue;
    }
    const { template_id: id, template_version: version = null } = action;
    const template = await selectTemplate(tx, organizationId, id, { version });
    if (version !== null && template === null) {
      if ((await selectTemplate(tx, organizationId, id)) !== null) {
        throw new InvalidError(
          `actions[${index}].template_version is not a version of the template: leave it out for the newest.`,
        );
      }
    }
    actions.push(template === null ? action : { ...action, template_version: template.version });
  }
  return { ...rule, actions };
}
