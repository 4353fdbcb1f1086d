import { uuidv7 } from '@dak/kernel';
import fc from 'fast-check';
import { MAX_ATTEMPTS, MAX_RETRY_AFTER_MS, nextAttemptAt } from './retry-schedule';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const at = new Date('2026-03-01T00:00:00Z');
const waitOf = (attempts: number, deliveryId: string, retryAfterMs: number | null = null) => {
  const next = nextAttemptAt({ deliveryId, attempts, at, retryAfterMs });
  return next === null ? null : next.getTime() - at.getTime();
};

describe('nextAttemptAt', () => {
  it.each([
    [1, 5_000],
    [2, 5 * MINUTE],
    [3, 30 * MINUTE],
    [4, 2 * HOUR],
    [5, 5 * HOUR],
    [6, 10 * HOUR],
    [7, 14 * HOUR],
    [8, 20 * HOUR],
    [9, 24 * HOUR],
  ])('after attempt %i waits %i ms, give or take 20 %%', (attempts, wait) => {
    fc.assert(
      fc.property(fc.uuid(), (id) => {
        const actual = waitOf(attempts, id)!;
        expect(actual).toBeGreaterThanOrEqual(wait * 0.8 - 1);
        expect(actual).toBeLessThanOrEqual(wait * 1.2 + 1);
      }),
    );
  });

  it('ends with the tenth attempt, about three days after the first', () => {
    const id = uuidv7();
    expect(MAX_ATTEMPTS).toBe(10);
    expect(waitOf(MAX_ATTEMPTS, id)).toBeNull();
    expect(waitOf(MAX_ATTEMPTS, id, MINUTE)).toBeNull();
    const sum = Array.from({ length: 9 }, (_, index) => waitOf(index + 1, id)!).reduce(
      (a, b) => a + b,
    );
    expect(sum / HOUR).toBeGreaterThan(60);
    expect(sum / HOUR).toBeLessThan(91);
  });

  it('depends on the delivery and the attempt alone', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.integer({ min: 1, max: 9 }), (id, attempts) => {
        expect(waitOf(attempts, id)).toBe(waitOf(attempts, id));
      }),
    );
  });

  it('spreads a crowd over the whole range', () => {
    const waits = Array.from({ length: 1000 }, () => waitOf(2, uuidv7())!);
    const [least, most] = [Math.min(...waits), Math.max(...waits)];
    expect(least).toBeLessThan(5 * MINUTE * 0.82);
    expect(most).toBeGreaterThan(5 * MINUTE * 1.18);
    const mean = waits.reduce((a, b) => a + b) / waits.length;
    expect(Math.abs(mean / (5 * MINUTE) - 1)).toBeLessThan(0.02);
  });

  it('is put off as asked, never brought forward, and at most a day', () => {
    fc.assert(
      fc.property(
        fc.uuid(),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 10 ** 12 }),
        (id, attempts, asked) => {
          const wait = waitOf(attempts, id, asked)!;
          expect(wait).toBe(Math.max(waitOf(attempts, id)!, Math.min(asked, MAX_RETRY_AFTER_MS)));
        },
      ),
    );
  });
});
