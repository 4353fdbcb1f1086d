import { nextAttemptAt, type RetryKind } from './retry-schedule';

const acceptedAt = new Date('2025-10-06T10:00:00Z');
const middle = () => 0.5;

/** Minutes between attempts until the message is given up. */
function waits(kind: RetryKind): number[] {
  const result: number[] = [];
  let now = acceptedAt;
  for (let attempts = 1; ; attempts += 1) {
    const next = nextAttemptAt({ attempts, acceptedAt, now, kind }, middle);
    if (next === null) return result;
    result.push((next.getTime() - now.getTime()) / 60_000);
    now = next;
  }
}

describe('the retry schedule', () => {
  it('tries a new message at once', () => {
    expect(
      nextAttemptAt({ attempts: 0, acceptedAt, now: acceptedAt, kind: 'personal' }, middle),
    ).toEqual(acceptedAt);
  });

  it('waits 1, 5, 10, 15, 30, 60 minutes, 2 and 4 hours, then 6 hours up to 5 days', () => {
    const minutes = waits('personal');
    expect(minutes.slice(0, 10)).toEqual([1, 5, 10, 15, 30, 60, 120, 240, 360, 360]);
    const total = minutes.reduce((sum, wait) => sum + wait, 0);
    expect(total).toBeLessThanOrEqual(120 * 60);
    expect(total).toBeGreaterThan(114 * 60);
  });

  it('gives transactional mail up after 24 hours', () => {
    const total = waits('transactional').reduce((sum, wait) => sum + wait, 0);
    expect(total).toBeLessThanOrEqual(24 * 60);
    expect(total).toBeGreaterThan(18 * 60);
  });

  it('varies by 10 percent either way', () => {
    const state = { attempts: 3, acceptedAt, now: acceptedAt, kind: 'personal' } as const;
    const after = (random: number) =>
      (nextAttemptAt(state, () => random)!.getTime() - acceptedAt.getTime()) / 1000;
    expect(after(0)).toBeCloseTo(540, 0);
    expect(after(0.999999)).toBeCloseTo(660, 0);
  });

  const hinted = (attempts: number, retryAfterSeconds: number, random = 0) =>
    (nextAttemptAt(
      { attempts, acceptedAt, now: acceptedAt, kind: 'personal', retryAfterSeconds },
      () => random,
    )!.getTime() -
      acceptedAt.getTime()) /
    1000;

  it('waits as long as the server asks, never less', () => {
    expect(hinted(1, 300)).toBe(300);
    expect(hinted(1, 300, 0.9999)).toBeGreaterThanOrEqual(300);
    expect(hinted(4, 120)).toBe(120);
  });

  it('does not let a server make it wait more than 6 hours, or hurry for days', () => {
    expect(hinted(1, 1_000_000)).toBe(6 * 3600);
    expect(hinted(9, 120, 0.5)).toBe(6 * 3600);
  });
});
