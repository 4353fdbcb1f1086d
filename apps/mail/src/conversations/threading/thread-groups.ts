import { DisjointSets } from './disjoint-sets';
import {
  bestParent,
  isOrphan,
  mentionsOf,
  parentFacts,
  sharedKeys,
  type LinkedMessage,
  type ThreadMessage,
} from './threading';

/** Ids of messages by thread: the definition that incremental threading has to agree with. */
export function threadGroups(messages: readonly ThreadMessage[]): string[][] {
  const facts = messages.map(parentFacts);
  const bySubject = Map.groupBy(facts, ({ subject }) => subject);
  const bySeries = Map.groupBy(facts, ({ series }) => series);
  const parents = new Map<string, string>();
  for (const message of messages) {
    if (!isOrphan(message)) continue;
    const parent = bestParent(parentFacts(message), [
      ...(bySubject.get(message.subject) ?? []),
      ...(message.formerSubject === null ? [] : (bySubject.get(message.formerSubject) ?? [])),
      ...(message.series === null ? [] : bySeries.get(message.series)!),
    ]);
    if (parent !== null) parents.set(message.id, parent.facts.id);
  }
  return connectedMessages(messages, parents);
}

/** As {@link threadGroups}, with the parents of replies that name nothing already chosen; parents outside `messages` do not count. */
export function connectedMessages(
  messages: readonly LinkedMessage[],
  parents: ReadonlyMap<string, string>,
): string[][] {
  const sets = new DisjointSets();
  const present = new Set(messages.map((message) => message.id));
  const keyed = new Set<string>();
  for (const message of messages) {
    for (const key of sharedKeys(message)) {
      keyed.add(key);
      sets.join(message.id, key);
    }
    const parent = parents.get(message.id);
    if (parent !== undefined && present.has(parent)) sets.join(message.id, parent);
  }
  for (const { id, messageId, subject } of messages) {
    if (messageId === null) continue;
    for (const key of mentionsOf(messageId, subject)) if (keyed.has(key)) sets.join(id, key);
  }
  return sets.groups(present);
}
