export interface BurstOptions {
  /** Messages per second above which arrivals are a burst: about what can be stored meanwhile. @default 400 */
  readonly perSecond?: number;
  /**
   * Longest time that one burst has precedence, and the shortest before the next has: others' mail is to be seen within
   * five seconds. @default 3000 ms
   */
  readonly maxMs?: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

export interface Burst {
  /** So many messages were accepted. */
  note(messages: number): void;
  /** Messages arrive faster than they can be stored, and have not done so for too long. */
  hasPrecedence(): boolean;
}

/** Milliseconds after which an arrival's weight has decayed to about a third. */
const MEMORY_MS = 100;

/**
 * Says when storing should wait: clients wait for their 250, while the rest is not urgent within
 * seconds. Measured on two cores, accepting is some two times faster for it. The limit keeps a flood
 * that does not end from growing the spool for ever: from then on both share the machine.
 */
export function watchBurst({ perSecond = 400, maxMs = 3_000, now }: BurstOptions): Burst {
  let level = 0;
  let levelAt = now();
  let startedAt: number | null = null;
  let endedAt = -Infinity;

  const messagesPerSecond = (at: number): number => {
    level *= Math.exp((levelAt - at) / MEMORY_MS);
    levelAt = at;
    return (level * 1000) / MEMORY_MS;
  };

  return {
    note(messages) {
      messagesPerSecond(now());
      level += messages;
    },
    hasPrecedence() {
      const at = now();
      const isFast = messagesPerSecond(at) > perSecond;
      if (startedAt === null) {
        if (isFast && at - endedAt >= maxMs) startedAt = at;
      } else if (at - startedAt >= maxMs) {
        startedAt = null;
        endedAt = at;
      } else if (!isFast) {
        startedAt = null;
      }
      return startedAt !== null;
    },
  };
}
