import { clientOf } from './flow-client';
import { turnKey } from './flow';
import { placeOf, type ClaimedEntry, type SpoolClaim } from './spool-store';

export type SpoolTurn = Pick<SpoolClaim, 'priority' | 'after' | 'lastTurns' | 'without'>;

export interface SpoolTurns {
  /** The next rows to work on, within the limit; empty if none is due. */
  next(limit: number): Promise<ClaimedEntry[]>;
}

/** Claims after which expensive clients get a normal turn, so that they wait but are never starved. */
const EXPENSIVE_EVERY = 8;
/** Clients and organizations whose last turn is known; those forgotten begin at the first of their ring. */
const MAX_REMEMBERED = 2_000;

/**
 * Whose mail is claimed next: organizations in a ring, the clients of each in a ring of their own, and the flows
 * of each client; mail of clients that cost too much when no other live mail is due; imports when no live mail is.
 */
export function createSpoolTurns(
  expensiveClients: () => readonly string[],
  claim: (turn: SpoolTurn, limit: number) => Promise<ClaimedEntry[]>,
): SpoolTurns {
  const lastTurns = new Map<string, string>();
  let after: string | null = null;
  let count = 0;

  /** Those with most mail are also the last of a claim: the first mail of each says how far the ring has come. */
  const noteTurns = (entries: readonly ClaimedEntry[]) => {
    const seen = new Set<string>();
    const note = (key: string, last: string) => {
      lastTurns.delete(key);
      lastTurns.set(key, last);
    };
    for (const { organizationId, flow } of entries) {
      const clientKey = turnKey(clientOf(flow));
      const client = placeOf(organizationId, clientKey);
      if (!seen.has(flow)) note(client, turnKey(flow));
      if (!seen.has(client)) note(organizationId, clientKey);
      if (!seen.has(organizationId)) after = organizationId;
      seen.add(flow).add(client).add(organizationId);
    }
    for (const key of lastTurns.keys()) {
      if (lastTurns.size <= MAX_REMEMBERED) break;
      lastTurns.delete(key);
    }
  };

  const claimNext = async (
    priority: SpoolTurn['priority'],
    without: readonly string[],
    limit: number,
  ): Promise<ClaimedEntry[]> => {
    const entries = await claim({ priority, without, after, lastTurns }, limit);
    noteTurns(entries);
    return entries;
  };

  return {
    async next(limit) {
      count += 1;
      const expensive = count % EXPENSIVE_EVERY === 0 ? [] : expensiveClients();
      const live = await claimNext(0, expensive, limit);
      if (live.length > 0) return live;
      if (expensive.length > 0) {
        const rest = await claimNext(0, [], limit);
        if (rest.length > 0) return rest;
      }
      return claimNext(1, [], limit);
    },
  };
}
