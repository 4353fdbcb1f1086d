import type { Actor, Principal } from '@dak/kernel';
import type { Rule } from '../definition/rule';

/** The rule as the actor of activities and events, and the author of mail. */
export function actorOfRule(rule: Rule): Actor {
  return { type: 'rule', id: rule.id, name: rule.name, runId: null };
}

/** On whose behalf a rule acts, as the operations of the service take it. */
export function principalOfRule(organizationId: string, { id, owner }: Rule): Principal {
  return {
    type: 'session',
    organizationId,
    userId: owner.userId,
    userName: owner.userName,
    role: owner.role,
    scopes: [],
    credentialId: id,
    departmentIds: owner.departmentIds,
  };
}
