import { noteAudit } from '@dak/platform/audit';
import type { SqlExecutor } from '@dak/platform/postgres';
import { bumpRuleSet, disableRulesOfKey, hasRulesOfKey } from './rule-store';

/** Stops the rules that a key made or changed, until a person enables them again. Doing it again changes nothing. */
export async function endRulesOfKey(
  tx: SqlExecutor,
  organizationId: string,
  keyId: string,
): Promise<void> {
  if (!(await hasRulesOfKey(tx, organizationId, keyId))) return;
  // Before the rules' own locks, as every change does.
  await bumpRuleSet(tx, organizationId);
  for (const { id, name } of await disableRulesOfKey(tx, organizationId, keyId)) {
    await noteAudit(
      tx,
      { organizationId, job: 'rules' },
      {
        action: 'rule.disabled',
        target: { type: 'rule', id },
        details: { name, reason: 'key_revoked' },
      },
    );
  }
}
