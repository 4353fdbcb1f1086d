export interface ReadPacingOptions {
  /** Milliseconds between two reads while events are relevant. @default 0 */
  busyMs?: number;
  /** The same while none is, and events are only skipped. */
  quietMs: number;
}

export interface ReadPacing {
  /** Notes that an event was relevant to the group. */
  relevant(): void;
  /** For the options of a subscription. */
  pauseMs(): number;
}

const REMEMBERED_MS = 10_000;

/**
 * Paces a group for which most events of its topics are irrelevant: while nothing is relevant, events
 * are skipped in larger batches instead of costing a round of reads and commits each.
 */
export function createReadPacing(
  { busyMs = 0, quietMs }: ReadPacingOptions,
  now: () => number = () => performance.now(),
): ReadPacing {
  let relevantAt = Number.NEGATIVE_INFINITY;
  return {
    relevant: () => {
      relevantAt = now();
    },
    pauseMs: () => (now() - relevantAt < REMEMBERED_MS ? busyMs : quietMs),
  };
}
