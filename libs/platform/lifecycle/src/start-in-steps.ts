import type { Running } from './run-until-stopped';

/** Takes what undoes a step of the start; later steps are undone first. */
export type OnStop = (undo: () => unknown) => void;

/**
 * Runs `start`, which names after every step what undoes it. The stop runs all of these, also when one
 * fails: what cannot be stopped well (its database may be gone) must not keep the rest from it. A start
 * that fails has undone what it had done.
 */
export async function startInSteps(
  start: (onStop: OnStop) => Promise<Pick<Running, 'failed'> | void>,
): Promise<Running> {
  const steps: (() => unknown)[] = [];
  const stop = async (): Promise<void> => {
    const errors: unknown[] = [];
    for (const undo of steps.splice(0).reverse()) {
      await Promise.resolve()
        .then(undo)
        .catch((error: unknown) => errors.push(error));
    }
    if (errors.length > 0) throw errors[0];
  };
  try {
    return { stop, ...(await start((undo) => steps.push(undo))) };
  } catch (error) {
    await stop().catch(() => undefined);
    throw error;
  }
}
