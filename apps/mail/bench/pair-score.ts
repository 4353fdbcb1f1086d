import { DisjointSets } from '../src/conversations/threading/disjoint-sets';
import type { ThreadMessage } from '../src/conversations/threading/threading';

/** Pairs of messages that are together in both, in what was found, and in the truth; 0 to 1. */
export interface PairScore {
  precision: number;
  recall: number;
  f1: number;
}

/** Scores the groups `found` by the groups `truth`; ids that the truth does not have are left out. */
export function pairScore(
  found: readonly (readonly string[])[],
  truth: readonly (readonly string[])[],
): PairScore {
  const groupOf = new Map(truth.flatMap((group, index) => group.map((id) => [id, index] as const)));
  const pairs = (count: number) => (count * (count - 1)) / 2;
  let common = 0;
  let foundPairs = 0;
  for (const group of found) {
    const known = group.filter((id) => groupOf.has(id));
    foundPairs += pairs(known.length);
    for (const part of Map.groupBy(known, (id) => groupOf.get(id)).values()) {
      common += pairs(part.length);
    }
  }
  const truePairs = truth.reduce((sum, group) => sum + pairs(group.length), 0);
  const precision = foundPairs === 0 ? 1 : common / foundPairs;
  const recall = truePairs === 0 ? 1 : common / truePairs;
  const sum = precision + recall;
  return { precision, recall, f1: sum === 0 ? 0 : (2 * precision * recall) / sum };
}

/** Connected components of Message-ID, In-Reply-To and References, lost messages included. */
export function headerGraph(messages: readonly ThreadMessage[]): string[][] {
  const sets = new DisjointSets();
  for (const message of messages) {
    for (const id of [message.messageId, message.inReplyTo, ...message.references]) {
      if (id !== null) sets.join(message.id, `<${id}>`);
    }
  }
  return sets.groups(messages.map((message) => message.id));
}

/** Mulberry32: the same numbers from 0 to 1 in every run. */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value = (value + Math.imul(value ^ (value >>> 7), value | 61)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
  };
}

/** A new array in an order drawn from `random` (Fisher and Yates). */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [result[last], result[other]] = [result[other]!, result[last]!];
  }
  return result;
}
