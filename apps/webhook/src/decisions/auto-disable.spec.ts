import fc from 'fast-check';
import { isHopeless, withFailure, type FailureStreak } from './auto-disable';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const after = (...failures: [event: string, at: number][]) =>
  failures.reduce<FailureStreak | null>(
    (streak, [event, at]) => withFailure(streak, event, at),
    null,
  );

describe('giving an endpoint up', () => {
  it('takes five days without success and two events that failed half a day apart', () => {
    const streak = after(['a', 0], ['b', 12 * HOUR]);
    expect(isHopeless(streak, 5 * DAY - 1)).toBe(false);
    expect(isHopeless(streak, 5 * DAY)).toBe(true);
  });

  it('does not happen for one event, however long it is retried', () => {
    expect(isHopeless(after(['a', 0], ['a', DAY], ['a', 3 * DAY]), 30 * DAY)).toBe(false);
  });

  it('does not happen for many events within half a day', () => {
    expect(isHopeless(after(['a', 0], ['b', HOUR], ['c', 12 * HOUR - 1]), 30 * DAY)).toBe(false);
  });

  it('is not put off by a retry of the first event', () => {
    expect(isHopeless(after(['a', 0], ['b', 13 * HOUR], ['a', 14 * HOUR]), 5 * DAY)).toBe(true);
  });

  it('does not happen without failures', () => {
    expect(isHopeless(null, 100 * DAY)).toBe(false);
  });

  it('never happens within five days of the first failure', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(5 * DAY - 1)), { minLength: 1 }),
        (failures) => {
          const inOrder = [...failures].sort(([, a], [, b]) => a - b);
          expect(isHopeless(after(...inOrder), inOrder[0]![1] + 5 * DAY - 1)).toBe(false);
        },
      ),
    );
  });
});
