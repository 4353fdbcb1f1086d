import { setTimeout as delay } from 'node:timers/promises';

const WITHIN_MS = 20_000;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 50;

type Ask<T> = () => T | Promise<T>;
type What = string | (() => string | Promise<string>);
type Found<T> = Exclude<T, null | undefined | false | 0 | ''>;

/**
 * Asks until the answer is truthy, and returns it. What `ask` throws, such as a failed expectation, means
 * "not yet". `what` names the thing that is waited for; as a function it can add what is there instead.
 * @throws Error at the deadline, with the last error as its cause
 */
export function eventually<T>(ask: Ask<T>, withinMs?: number): Promise<Found<T>>;
export function eventually<T>(what: What, ask: Ask<T>, withinMs?: number): Promise<Found<T>>;
export function eventually<T>(
  ...args: [ask: Ask<T>, withinMs?: number] | [what: What, ask: Ask<T>, withinMs?: number]
): Promise<Found<T>> {
  const [first, second] = args;
  if (typeof second === 'function') return wait(first as What, second, args[2]);
  return wait(String(first), first as Ask<T>, second);
}

async function wait<T>(what: What, ask: Ask<T>, withinMs = WITHIN_MS): Promise<Found<T>> {
  const deadline = performance.now() + withinMs;
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    let cause: unknown;
    try {
      const answer = await ask();
      if (answer) return answer as Found<T>;
    } catch (error) {
      cause = error;
    }
    if (performance.now() >= deadline) throw await overdue(what, withinMs, cause);
    await delay(pauseMs);
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 1.5);
  }
}

async function overdue(what: What, withinMs: number, cause: unknown): Promise<Error> {
  const name = typeof what === 'string' ? what : await what();
  const last = cause === undefined ? '' : `\nThe last error: ${(cause as Error).message ?? cause}`;
  return new Error(`Not within ${withinMs} ms: ${name}${last}`, { cause });
}
