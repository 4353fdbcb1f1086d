import type { ClaimedEntry, SpoolClaim } from './spool-store';

export type SpoolTurn = Pick<SpoolClaim, 'priority' | 'after' | 'flowsAfter' | 'without'>;

export interface SpoolTurns {
  /** What is to be worked on next; nothing when nothing is due. */
  next(): Promise<ClaimedEntry[]>;
}

/** Every so many claims expensive clients have a turn like all others: they wait, they are not forgotten. */
const EXPENSIVE_EVERY = 8;
const MAX_REMEMBERED = 1_000;

/**
 * Whose mail is claimed next: organizations in a ring, the flows of each in a ring of their own; mail of clients
 * that cost too much when no other live mail is due; imports when no live mail is.
 */
export function createSpoolTurns(
  expensiveClients: () => readonly string[],
  claim: (turn: SpoolTurn) => Promise<ClaimedEntry[]>,
): SpoolTurns {
  const flowsAfter = new Map<string, string>();
  let after: string | null = null;
  let count = 0;

  const claimNext = async (
    priority: SpoolTurn['priority'],
    without: readonly string[],
  ): Promise<ClaimedEntry[]> => {
    const entries = await claim({ priority, without, after, flowsAfter });
    if (flowsAfter.size > MAX_REMEMBERED) flowsAfter.clear();
    for (const { organizationId, flow } of entries) {
      after = organizationId;
      flowsAfter.set(organizationId, flow);
    }
    return entries;
  };

  return {
    async next() {
      count += 1;
      const expensive = count % EXPENSIVE_EVERY === 0 ? [] : expensiveClients();
      const live = await claimNext(0, expensive);
      if (live.length > 0) return live;
      if (expensive.length > 0) {
        const rest = await claimNext(0, []);
        if (rest.length > 0) return rest;
      }
      return claimNext(1, []);
    },
  };
}
