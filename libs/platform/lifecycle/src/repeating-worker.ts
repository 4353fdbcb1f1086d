import { inSpan } from '@dak/platform/telemetry';

/** What a round says. */
interface Round {
  readonly more: boolean;
  /** It found nothing to do. @default false */
  readonly isIdle?: boolean;
}

export interface RepeatingWorker {
  start(): void;
  /** Resolves when the round that is running has ended. */
  stop(): Promise<void>;
}

/**
 * Runs `round` every `everyMs`, and again immediately while it reports more work. An error ends only that
 * round. Each round has its own span, except rounds that had nothing to do.
 * @param name of the job, for its spans
 */
export function createRepeatingWorker(
  name: string,
  round: () => Promise<Round>,
  everyMs: number,
  onError: (error: unknown) => void,
): RepeatingWorker {
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> = Promise.resolve();
  let isStopped = true;
  const turn = async (): Promise<void> => {
    let more = false;
    try {
      ({ more } = await inSpan(
        `job ${name}`,
        { parent: null },
        round,
        ({ isIdle }) => isIdle === true,
      ));
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
