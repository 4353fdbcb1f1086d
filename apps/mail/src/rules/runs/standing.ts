import { ACCESS_LEVELS } from '@dak/contracts/api';
import { seesWholeOrganization } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { findPeople } from '@dak/platform/tenant-directory';
import type { Access } from '../../mailboxes/visibility-store';
import type { Rule } from '../definition/rule';
import { selectAssigned } from './assignment-store';

/** What people may do at this moment, as far as rules have to know. */
export interface Standing {
  /** Of the owner of a rule in a mailbox; null = not even see it. */
  ownerAccess(rule: Rule, mailboxId: string): Access | null;
  /** False for a person who can no longer sign in. */
  isActive(userId: string): boolean;
}

/**
 * Asks for roles, departments and assignments of now: a rule of somebody who has been deactivated or
 * has lost a mailbox does nothing there any more. Somebody whom the gateway has not spoken of yet is
 * taken as they were when they saved the rule.
 */
export async function loadStanding(
  tx: SqlExecutor,
  organizationId: string,
  rules: readonly Rule[],
  mailboxIds: readonly string[],
): Promise<Standing> {
  const assignees = rules.flatMap(({ actions }) =>
    actions.flatMap((action) => (action.type === 'assign' ? [action.user_id] : [])),
  );
  const people = await findPeople(tx, organizationId, [
    ...new Set([...rules.map(({ owner }) => owner.userId), ...assignees]),
  ]);
  const isActive = (userId: string) => people.get(userId)?.active ?? true;
  const standingOf = ({ owner }: Rule) => people.get(owner.userId) ?? owner;
  const held = rules.filter((rule) => !seesWholeOrganization(standingOf(rule)));
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
      const standing = standingOf(rule);
      return seesWholeOrganization(standing)
        ? 'send'
        : assigned(userId, standing.departmentIds, mailboxId);
    },
  };
}

export function isAtLeast(access: Access, needed: Access): boolean {
  return ACCESS_LEVELS.indexOf(access) >= ACCESS_LEVELS.indexOf(needed);
}
