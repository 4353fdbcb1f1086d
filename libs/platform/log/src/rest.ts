export interface RestOptions {
  /** Milliseconds between two reads while events concern the group. @default 0 */
  busyMs?: number;
  /** The same while none does: they only have to be passed over. */
  quietMs: number;
}

export interface Rest {
  /** An event that was read concerns the group. */
  concerned(): void;
  /** For the options of a subscription. */
  restMs(): number;
}

const REMEMBERED_MS = 10_000;

/**
 * How a group rests that is not concerned by most of its topics: whoever has no rule and no endpoint
 * must not pay for every event by a round of reads and commits.
 */
export function createRest(
  { busyMs = 0, quietMs }: RestOptions,
  now: () => number = () => performance.now(),
): Rest {
  let concernedAt = Number.NEGATIVE_INFINITY;
  return {
    concerned: () => {
      concernedAt = now();
    },
    restMs: () => (now() - concernedAt < REMEMBERED_MS ? busyMs : quietMs),
  };
}
