import { uuidv7 } from '@dak/kernel';
import { settleAttempt, LONGEST_BLOCK_MS, type AttemptedDelivery } from './settle-attempt';

const AT = 1_770_000_000_000;
const delivery = (change: Partial<AttemptedDelivery> = {}): AttemptedDelivery => ({
  id: uuidv7(),
  trigger: 'automatic',
  attempts: 0,
  isOrdered: false,
  firstAttemptAt: null,
  ...change,
});
const failed = { kind: 'retry', retryAfterMs: null } as const;

describe('a delivery after an attempt', () => {
  it('is done when it was delivered, and failed for good when the receiver is gone', () => {
    expect(settleAttempt(delivery(), { kind: 'delivered', retryAfterMs: null }, AT)).toEqual({
      state: 'delivered',
    });
    expect(settleAttempt(delivery(), { kind: 'gone', retryAfterMs: null }, AT)).toEqual({
      state: 'failed',
    });
  });

  it('waits for its schedule when the attempt failed, and fails after the last', () => {
    const first = settleAttempt(delivery(), failed, AT);
    expect(first.state).toBe('pending');
    if (first.state === 'pending') {
      expect(first.nextAt - AT).toBeGreaterThanOrEqual(4_000);
      expect(first.nextAt - AT).toBeLessThanOrEqual(6_000);
    }
    expect(settleAttempt(delivery({ attempts: 9, firstAttemptAt: AT }), failed, AT)).toEqual({
      state: 'failed',
    });
  });

  it('is tried once when a user asked for it', () => {
    for (const trigger of ['retry', 'test'] as const) {
      expect(settleAttempt(delivery({ trigger }), failed, AT)).toEqual({ state: 'failed' });
    }
    expect(settleAttempt(delivery({ trigger: 'replay' }), failed, AT).state).toBe('pending');
  });

  it('blocks its conversation for an hour at most, then the others go on', () => {
    const ordered = (change: Partial<AttemptedDelivery>) =>
      settleAttempt(delivery({ isOrdered: true, ...change }), failed, AT).state;
    expect(ordered({ attempts: 1, firstAttemptAt: AT - 5_000 })).toBe('pending');
    // The next attempt would come in half an hour.
    expect(ordered({ attempts: 2, firstAttemptAt: AT - 300_000 })).toBe('pending');
    expect(ordered({ attempts: 2, firstAttemptAt: AT - LONGEST_BLOCK_MS + 60_000 })).toBe(
      'skipped',
    );
    expect(ordered({ attempts: 3, firstAttemptAt: AT })).toBe('skipped');
    expect(
      settleAttempt(
        delivery({ isOrdered: true }),
        { kind: 'retry', retryAfterMs: 2 * LONGEST_BLOCK_MS },
        AT,
      ).state,
    ).toBe('skipped');
  });
});
