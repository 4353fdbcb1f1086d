import { ACCESS_LEVELS } from '@dak/contracts/api';
import { seesWholeOrganization } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { findPeople } from '@dak/platform/tenant-directory';
import type { Access } from '../../mailboxes/visibility-store';
import type { Rule } from '../definition/rule';
import { selectAssigned } from './assignment-store';

/** Users' current permissions, as far as rules need them. */
export interface CurrentRights {
  /** Access of the rule's owner to a mailbox; null = none. */
  ownerAccess(rule: Rule, mailboxId: string): Access | null;
  /** False for a user who can no longer sign in. */
  isActive(userId: string): boolean;
}

/**
 * Loads current roles, departments and assignments: a rule whose owner has been deactivated or
 * has lost access to a mailbox does nothing there. An owner not yet announced by the gateway has
 * the rights they had when they saved the rule.
 */
export async function loadCurrentRights(
  tx: SqlExecutor,
  organizationId: string,
  rules: readonly Rule[],
  mailboxIds: readonly string[],
): Promise<CurrentRights> {
  const assignees = rules.flatMap(({ actions }) =>
    actions.flatMap((action) => (action.type === 'assign' ? [action.user_id] : [])),
  );
  const people = await findPeople(tx, organizationId, [
    ...new Set([...rules.map(({ owner }) => owner.userId), ...assignees]),
  ]);
  const isActive = (userId: string) => people.get(userId)?.active ?? true;
  const rightsOf = ({ owner }: Rule) => people.get(owner.userId) ?? owner;
  const held = rules.filter((rule) => !seesWholeOrganization(rightsOf(rule)));
  const assigned = await selectAssigned(
    tx,
    organizationId,
    [...new Set(held.map(({ owner }) => owner.userId))],
    mailboxIds,
  );
  return {
    isActive,
    ownerAccess(rule, mailboxId) {
      const { userId } = rule.owner;
      if (!isActive(userId)) return null;
      const rights = rightsOf(rule);
      return seesWholeOrganization(rights)
        ? 'send'
        : assigned(userId, rights.departmentIds, mailboxId);
    },
  };
}

export function isAtLeast(access: Access, needed: Access): boolean {
  return ACCESS_LEVELS.indexOf(access) >= ACCESS_LEVELS.indexOf(needed);
}
