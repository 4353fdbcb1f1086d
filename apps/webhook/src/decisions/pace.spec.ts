import fc from 'fast-check';
import { Pace } from './pace';

const LIMITS = { ratePerSecond: 100, maxConcurrency: 16 };

/** Sends as fast as the pace allows, each attempt taking `tookMs`; returns the times at which attempts began. */
function drive(
  pace: Pace,
  from: number,
  forMs: number,
  tookMs: number,
  outcome: 'ok' | 'slow_down' = 'ok',
) {
  const begun: number[] = [];
  const underWay: number[] = [];
  for (let now = from; now < from + forMs; now += 1) {
    while (underWay.length > 0 && underWay[0]! + tookMs <= now)
      pace.end(outcome, underWay.shift()!, now);
    for (let room = pace.room(now); room > 0; room -= 1) {
      pace.begin(now);
      begun.push(now);
      underWay.push(now);
    }
  }
  for (const at of underWay) pace.end('other', at, from + forMs);
  return begun;
}

describe('the pace of an endpoint', () => {
  it('never exceeds the rate by more than one second’s worth', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 300 }),
        (ratePerSecond, maxConcurrency, tookMs) => {
          const pace = new Pace({ ratePerSecond, maxConcurrency }, 0);
          const begun = drive(pace, 0, 3000, tookMs);
          expect(begun.length).toBeLessThanOrEqual(ratePerSecond * 4 + 1);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('reaches the rate when nothing is in the way', () => {
    const begun = drive(new Pace(LIMITS, 0), 0, 5000, 20);
    expect(begun.length).toBeGreaterThanOrEqual(590);
    expect(begun.length).toBeLessThanOrEqual(600);
  });

  it('limits the attempts under way', () => {
    const pace = new Pace({ ratePerSecond: 1000, maxConcurrency: 3 }, 0);
    expect(pace.room(0)).toBe(3);
    for (let index = 0; index < 3; index += 1) pace.begin(0);
    expect(pace.room(500)).toBe(0);
    pace.end('ok', 0, 500);
    expect(pace.room(500)).toBe(1);
    expect(pace.inFlight).toBe(2);
  });

  it('knows how long the next token takes', () => {
    const pace = new Pace({ ratePerSecond: 2, maxConcurrency: 10 }, 0);
    pace.begin(0);
    pace.begin(0);
    expect(pace.room(0)).toBe(0);
    expect(pace.waitMs(0)).toBe(500);
    expect(pace.waitMs(100)).toBe(400);
    expect(pace.waitMs(500)).toBe(0);
    expect(pace.room(500)).toBe(1);
  });

  it('is halved once by all attempts of one round', () => {
    const pace = new Pace(LIMITS, 0);
    for (let index = 0; index < 16; index += 1) pace.begin(0);
    for (let index = 0; index < 16; index += 1) pace.end('slow_down', 0, 10 + index);
    expect(pace.currentConcurrency).toBe(8);
    expect(pace.currentRate).toBe(50);
    pace.begin(100);
    pace.end('slow_down', 100, 110);
    expect(pace.currentConcurrency).toBe(4);
    expect(pace.currentRate).toBe(25);
  });

  it('never stops altogether, however often it is asked to slow down', () => {
    const pace = new Pace(LIMITS, 0);
    for (let round = 1; round <= 100; round += 1) {
      pace.begin(round * 1000);
      pace.end('slow_down', round * 1000, round * 1000 + 1);
    }
    expect(pace.currentConcurrency).toBe(1);
    expect(pace.currentRate).toBeGreaterThan(0);
    expect(pace.waitMs(101_000)).toBeLessThanOrEqual(20_000);
  });

  it('recovers by small steps with successes, and not with time', () => {
    const pace = new Pace(LIMITS, 0);
    pace.begin(0);
    pace.end('slow_down', 0, 1);
    expect(pace.room(3_600_000)).toBeLessThanOrEqual(8);
    expect(pace.currentRate).toBe(50);
    drive(pace, 3_600_000, 10_000, 20);
    const [rate, concurrency] = [pace.currentRate, pace.currentConcurrency];
    expect(rate).toBeGreaterThan(60);
    expect(rate).toBeLessThan(75);
    expect(concurrency).toBeGreaterThan(8);
    drive(pace, 3_610_000, 40_000, 20);
    expect(pace.currentRate).toBe(100);
    expect(pace.currentConcurrency).toBe(16);
  });

  it('stays within its limits, whatever happens', () => {
    const outcome = fc.constantFrom('ok' as const, 'slow_down' as const, 'other' as const);
    fc.assert(
      fc.property(fc.array(fc.tuple(outcome, fc.nat(5000)), { maxLength: 300 }), (events) => {
        const pace = new Pace(LIMITS, 0);
        let now = 0;
        for (const [result, wait] of events) {
          now += wait;
          pace.begin(now);
          pace.end(result, now, now + 5);
          expect(pace.currentConcurrency).toBeGreaterThanOrEqual(1);
          expect(pace.currentConcurrency).toBeLessThanOrEqual(16);
          expect(pace.currentRate).toBeGreaterThan(0);
          expect(pace.currentRate).toBeLessThanOrEqual(100);
          expect(pace.inFlight).toBe(0);
        }
      }),
    );
  });

  it('takes new limits at once and keeps what it learned', () => {
    const pace = new Pace(LIMITS, 0);
    pace.setLimits({ ratePerSecond: 10, maxConcurrency: 2 });
    expect(pace.room(0)).toBe(2);
    pace.setLimits({ ratePerSecond: 200, maxConcurrency: 20 });
    expect(pace.currentRate).toBe(200);
    pace.begin(0);
    pace.end('slow_down', 0, 1);
    pace.setLimits({ ratePerSecond: 400, maxConcurrency: 40 });
    expect(pace.currentRate).toBe(100);
    expect(pace.currentConcurrency).toBe(10);
  });
});
