export interface RepeatingWorker {
  start(): void;
  /** Resolves when the round that is running has ended. */
  stop(): Promise<void>;
}

/**
 * Runs `round` every `everyMs`; at once again while it says that there is more. An error ends the round
 * only.
 */
export function createRepeatingWorker(
  round: () => Promise<{ more: boolean }>,
  everyMs: number,
  onError: (error: unknown) => void,
): RepeatingWorker {
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> = Promise.resolve();
  let isStopped = true;
  const turn = async (): Promise<void> => {
    let more = false;
    try {
      ({ more } = await round());
    } catch (error) {
      onError(error);
    }
    if (!isStopped) schedule(more ? 0 : everyMs);
  };
  const schedule = (delay: number): void => {
    timer = setTimeout(() => {
      running = turn();
    }, delay);
    timer.unref();
  };
  return {
    start: () => {
      if (!isStopped) return;
      isStopped = false;
      schedule(0);
    },
    stop: async () => {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
      await running;
    },
  };
}
