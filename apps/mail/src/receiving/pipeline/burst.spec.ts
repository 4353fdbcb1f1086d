import { watchBurst } from './burst';

const STEP_MS = 10;

describe('a burst of arrivals', () => {
  let now = 0;
  const burst = () => watchBurst({ perSecond: 400, maxMs: 5_000, now: () => now });

  /** Milliseconds with precedence while messages arrive at a steady rate. */
  const precedence = (
    watched: ReturnType<typeof burst>,
    perSecond: number,
    forMs: number,
  ): number => {
    let total = 0;
    for (let passed = 0; passed < forMs; passed += STEP_MS) {
      now += STEP_MS;
      watched.note((perSecond * STEP_MS) / 1000);
      if (watched.hasPrecedence()) total += STEP_MS;
    }
    return total;
  };

  beforeEach(() => {
    now = 1_000;
  });

  it('does not have precedence at a rate that can be stored meanwhile', () => {
    expect(precedence(burst(), 300, 10_000)).toBe(0);
  });

  it('has precedence as long as it lasts, and not for long after', () => {
    const watched = burst();
    expect(precedence(watched, 2_000, 2_000)).toBeGreaterThan(1_900);
    expect(precedence(watched, 0, 5_000)).toBeLessThan(250);
  });

  it('that follows a short one has precedence at once', () => {
    const watched = burst();
    precedence(watched, 2_000, 1_000);
    precedence(watched, 0, 500);
    expect(precedence(watched, 2_000, 1_000)).toBeGreaterThan(900);
  });

  it('without an end has precedence for half of the time at most', () => {
    const watched = burst();
    const total = precedence(watched, 2_000, 60_000);
    expect(total).toBeGreaterThan(25_000);
    expect(total).toBeLessThanOrEqual(30_000);
  });

  it('does not begin with the few messages of one moment', () => {
    const watched = burst();
    watched.note(20);
    expect(watched.hasPrecedence()).toBe(false);
  });
});
