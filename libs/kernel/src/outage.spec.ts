import { DomainError, UnavailableError } from './errors';
import { isOutage, outageAsUnavailable } from './outage';

const withCode = (code: string, more: object = {}): Error =>
  Object.assign(new Error('x'), { code, ...more });

describe('isOutage', () => {
  it.each([
    new UnavailableError('away'),
    new Error('Connection terminated unexpectedly'),
    new Error('wrapped', { cause: withCode('ECONNRESET') }),
    withCode('57P03'),
    withCode('ENOSPC'),
    // The socket file of a PostgreSQL that is not running.
    withCode('ENOENT', { syscall: 'connect' }),
  ])('sees that something is away in %p', (error) => {
    expect(isOutage(error)).toBe(true);
  });

  it.each([
    withCode('ENOENT', { syscall: 'open' }),
    withCode('23505'),
    withCode('P0001'),
    new DomainError('conflict', 'too_late', 'x'),
    new TypeError('x is not a function'),
    'text',
    null,
  ])('does not take %p for an outage', (error) => {
    expect(isOutage(error)).toBe(false);
  });
});

describe('outageAsUnavailable', () => {
  it('puts the sentence in place of the words of a driver, and keeps them as the cause', () => {
    const error = withCode('ECONNREFUSED');
    expect(outageAsUnavailable(error, 'Away.')).toMatchObject({
      kind: 'unavailable',
      message: 'Away.',
      cause: error,
    });
  });

  it('leaves everything else as it is', () => {
    for (const error of [
      new DomainError('rate_limited', 'rate_limited', 'Too many.'),
      withCode('23505'),
      null,
    ]) {
      expect(outageAsUnavailable(error, 'Away.')).toBe(error);
    }
  });
});
