import fc from 'fast-check';
import { Breaker, CLOSED, openForMs } from './breaker';

const T = Date.parse('2026-03-01T00:00:00Z');
const OK = { isFailure: false, isConnectFailure: false, isProbe: false };
const FAILED = { isFailure: true, isConnectFailure: false, isProbe: false };
const NO_CONNECTION = { isFailure: true, isConnectFailure: true, isProbe: false };
const PROBE_OK = { ...OK, isProbe: true };
const PROBE_FAILED = { ...FAILED, isProbe: true };

function tripped(at = T): Breaker {
  const breaker = new Breaker();
  for (let index = 0; index < 5; index += 1) breaker.record(NO_CONNECTION, at);
  return breaker;
}

describe('a closed breaker', () => {
  it('opens after 10 attempts within a minute of which 7 failed', () => {
    const breaker = new Breaker();
    for (let index = 0; index < 3; index += 1) breaker.record(OK, T);
    for (let index = 0; index < 6; index += 1) breaker.record(FAILED, T + index * 1000);
    expect(breaker.state).toEqual(CLOSED);
    breaker.record(FAILED, T + 7000);
    expect(breaker.state).toEqual({
      state: 'open',
      openedAt: T + 7000,
      nextProbeAt: T + 37_000,
      trips: 1,
    });
  });

  it('bears 69 % of failures, and any failures among fewer than 10 attempts', () => {
    const many = new Breaker();
    for (let index = 0; index < 31; index += 1) many.record(OK, T);
    for (let index = 0; index < 69; index += 1) many.record(FAILED, T);
    expect(many.state).toBe(CLOSED);
    const few = new Breaker();
    for (let index = 0; index < 9; index += 1) few.record(FAILED, T);
    expect(few.state).toBe(CLOSED);
  });

  it('forgets what is more than a minute old', () => {
    const breaker = new Breaker();
    for (let index = 0; index < 9; index += 1) breaker.record(FAILED, T);
    breaker.record(FAILED, T + 65_000);
    expect(breaker.state).toBe(CLOSED);
  });

  it('opens after 5 attempts in a row without a connection, not when others come between', () => {
    const breaker = new Breaker();
    for (let index = 0; index < 4; index += 1) breaker.record(NO_CONNECTION, T);
    breaker.record(FAILED, T);
    for (let index = 0; index < 4; index += 1) breaker.record(NO_CONNECTION, T);
    expect(breaker.state).toBe(CLOSED);
    breaker.record(NO_CONNECTION, T);
    expect(breaker.state.state).toBe('open');
  });

  it('never opens while nothing fails', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(100_000)), (times) => {
        const breaker = new Breaker();
        for (const time of times) breaker.record(OK, T + time);
        expect(breaker.admit(T + 100_000)).toBe('send');
      }),
    );
  });
});

describe('an open breaker', () => {
  it('lets nothing through for 30 s, then one probe', () => {
    const breaker = tripped();
    expect(breaker.admit(T)).toBe('wait');
    expect(breaker.admit(T + 29_999)).toBe('wait');
    expect(breaker.admit(T + 30_000)).toBe('probe');
    expect(breaker.state.state).toBe('half_open');
    expect(breaker.admit(T + 30_000)).toBe('wait');
    expect(breaker.admit(T + 999_000)).toBe('wait');
  });

  it('closes with a probe that succeeds and starts over', () => {
    const breaker = tripped();
    breaker.admit(T + 30_000);
    breaker.record(PROBE_OK, T + 30_100);
    expect(breaker.state).toBe(CLOSED);
    expect(breaker.admit(T + 30_100)).toBe('send');
    for (let index = 0; index < 4; index += 1) breaker.record(NO_CONNECTION, T + 30_200);
    expect(breaker.state).toBe(CLOSED);
  });

  it('doubles its time with every probe that fails, up to ten minutes', () => {
    const breaker = tripped();
    let now = T;
    const waits: number[] = [];
    for (let index = 0; index < 8; index += 1) {
      const wait = breaker.state.nextProbeAt! - now;
      waits.push(wait / 1000);
      now += wait;
      expect(breaker.admit(now)).toBe('probe');
      breaker.record(PROBE_FAILED, now);
    }
    expect(waits).toEqual([30, 60, 120, 240, 480, 600, 600, 600]);
    expect(openForMs(1000)).toBe(600_000);
  });

  it('is not moved by attempts begun before it opened', () => {
    const breaker = tripped();
    const { state } = breaker;
    breaker.record(OK, T + 10);
    breaker.record(FAILED, T + 10);
    expect(breaker.state).toBe(state);
    breaker.admit(T + 30_000);
    breaker.record(FAILED, T + 30_001);
    expect(breaker.admit(T + 30_001)).toBe('wait');
    breaker.record(PROBE_OK, T + 30_002);
    expect(breaker.state).toBe(CLOSED);
  });

  it('probes again when a probe was not sent', () => {
    const breaker = tripped();
    breaker.admit(T + 30_000);
    breaker.withdrawProbe();
    expect(breaker.state).toMatchObject({ state: 'open', trips: 1 });
    expect(breaker.admit(T + 30_000)).toBe('probe');
  });

  it('is taken over as it is; a probe under way is made again', () => {
    const before = tripped();
    expect(new Breaker(before.state).admit(T + 29_000)).toBe('wait');
    before.admit(T + 30_000);
    const after = new Breaker(before.state);
    expect(after.admit(T + 30_000)).toBe('probe');
    after.record(PROBE_FAILED, T + 30_000);
    expect(after.state).toMatchObject({ trips: 2, nextProbeAt: T + 90_000 });
  });

  it('has at most one probe under way, whatever happens', () => {
    const event = fc.oneof(
      fc.record({ kind: fc.constant('admit' as const), wait: fc.nat(700_000) }),
      fc.record({
        kind: fc.constant('result' as const),
        failed: fc.boolean(),
        connected: fc.boolean(),
      }),
      fc.record({ kind: fc.constant('withdraw' as const) }),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 200 }), (events) => {
        const breaker = tripped();
        let now = T;
        let probes = 0;
        for (const entry of events) {
          if (entry.kind === 'admit') {
            now += entry.wait;
            if (breaker.admit(now) === 'probe') probes += 1;
          } else if (entry.kind === 'withdraw') {
            breaker.withdrawProbe();
            probes = 0;
          } else {
            const isProbe = probes > 0;
            breaker.record(
              {
                isFailure: entry.failed,
                isConnectFailure: entry.failed && !entry.connected,
                isProbe,
              },
              now,
            );
            if (isProbe) probes = 0;
          }
          expect(probes).toBeLessThanOrEqual(1);
          expect(breaker.state.nextProbeAt === null).toBe(breaker.state.state === 'closed');
        }
      }),
    );
  });
});
