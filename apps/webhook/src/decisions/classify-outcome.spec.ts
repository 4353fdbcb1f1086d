import { ATTEMPT_ERRORS, type AttemptOutcome } from '@dak/platform/guarded-http';
import fc from 'fast-check';
import { classifyOutcome, retryAfterMs } from './classify-outcome';

const NOW = Date.parse('2026-03-01T00:00:00Z');
const DAY = 86_400_000;
const answered = (status: number, headers: Record<string, string> = {}) =>
  classifyOutcome(
    {
      kind: 'response',
      status,
      headers,
      bodyStart: Buffer.alloc(0),
      truncated: false,
      durationMs: 1,
    },
    NOW,
  );
const broken = (code: Extract<AttemptOutcome, { kind: 'error' }>['code']) =>
  classifyOutcome({ kind: 'error', code, detail: 'Because.', durationMs: 1 }, NOW);

describe('classifyOutcome', () => {
  it('takes every 2xx as delivered, whatever else it says', () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 299 }), (status) => {
        expect(answered(status, { 'retry-after': '60' })).toEqual({
          kind: 'delivered',
          statusCode: status,
          errorCode: null,
          detail: null,
          retryAfterMs: null,
          isFailure: false,
          isConnectFailure: false,
        });
      }),
    );
  });

  it.each([
    [301, 'retry', 'redirect', true],
    [307, 'retry', 'redirect', true],
    [400, 'retry', 'client_error', true],
    [401, 'retry', 'client_error', true],
    [404, 'retry', 'client_error', true],
    [410, 'gone', 'gone', false],
    [429, 'slow_down', 'rate_limited', false],
    [500, 'retry', 'server_error', true],
    [502, 'slow_down', 'server_error', true],
    [503, 'retry', 'server_error', true],
    [504, 'slow_down', 'server_error', true],
    [599, 'retry', 'server_error', true],
    [999, 'retry', 'server_error', true],
  ])('takes %i for %s, %s', (status, kind, errorCode, isFailure) => {
    expect(answered(status)).toMatchObject({ kind, errorCode, isFailure, statusCode: status });
    expect(answered(status).isConnectFailure).toBe(false);
  });

  it('reads Retry-After of 429 and 503 alone', () => {
    const asked = { 'retry-after': '120' };
    expect(answered(429, asked).retryAfterMs).toBe(120_000);
    expect(answered(503, asked).retryAfterMs).toBe(120_000);
    expect(answered(500, asked).retryAfterMs).toBeNull();
    expect(answered(502, asked).retryAfterMs).toBeNull();
  });

  it('distinguishes errors before and after the connection was made', () => {
    const before = ['blocked_address', 'dns', 'refused', 'unreachable', 'connect_timeout', 'tls'];
    for (const code of ATTEMPT_ERRORS) {
      const verdict = broken(code);
      expect(verdict).toMatchObject({ statusCode: null, errorCode: code, detail: 'Because.' });
      expect(verdict.isConnectFailure).toBe(before.includes(code));
    }
    expect(broken('timeout')).toMatchObject({ kind: 'retry', isFailure: true });
    expect(broken('invalid_url')).toMatchObject({ kind: 'failed', isFailure: true });
    expect(broken('aborted')).toMatchObject({ kind: 'withdrawn', isFailure: false });
  });
});

describe('retryAfterMs', () => {
  it.each([
    ['0', null],
    ['1', 1000],
    [' 30 ', 30_000],
    ['99999999999999999999', DAY],
    ['Sun, 01 Mar 2026 00:01:00 GMT', 60_000],
    ['Sat, 28 Feb 2026 23:59:00 GMT', null],
    ['Fri, 01 Jan 2100 00:00:00 GMT', DAY],
    ['-5', null],
    ['1.5', null],
    ['soon', null],
    ['', null],
    [undefined, null],
  ])('reads %j as %j ms', (value, expected) => {
    expect(retryAfterMs(value, NOW)).toBe(expected);
  });

  it('is null, or above 0 and at most a day, for anything', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        const wait = retryAfterMs(value, NOW);
        expect(wait === null || (wait > 0 && wait <= DAY)).toBe(true);
      }),
    );
  });
});
