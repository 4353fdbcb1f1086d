import { endedCookie, readSessionCookie, sessionCookie } from './session-cookie';

describe('the cookie of a session', () => {
  it('is for this site and its routes of sessions alone, and for no script', () => {
    expect(sessionCookie('abc', 60, true)).toBe(
      'dak_refresh=abc; Path=/api/v1/auth; Max-Age=60; HttpOnly; SameSite=Strict; Secure',
    );
    expect(sessionCookie('abc', 60, false)).not.toContain('Secure');
    expect(endedCookie(true)).toMatch(/^dak_refresh=; .*Max-Age=0;.*Secure$/);
  });

  it.each([
    ['dak_refresh=abc', 'abc'],
    ['other=1; dak_refresh=abc; more=2', 'abc'],
    ['other=1;dak_refresh=a=b=', 'a=b='],
    [' dak_refresh = abc ', 'abc'],
    ['dak_refresh=', null],
    ['dak_refresh', null],
    ['xdak_refresh=abc', null],
    ['other=dak_refresh=abc', null],
    ['', null],
    [undefined, null],
  ])('is read from %p', (header, token) => {
    expect(readSessionCookie(header)).toBe(token);
  });
});
