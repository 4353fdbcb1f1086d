const NAME = 'dak_refresh';
const PATH = '/api/v1/auth';

/** The refresh token's cookie: never readable by scripts, sent to `/auth` of this site only. */
export function sessionCookie(token: string, maxAgeSeconds: number, isHttps: boolean): string {
  const secure = isHttps ? '; Secure' : '';
  return `${NAME}=${token}; Path=${PATH}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
}

export function endedCookie(isHttps: boolean): string {
  return sessionCookie('', 0, isHttps);
}

/** Null when the header has none. */
export function readSessionCookie(header: string | undefined): string | null {
  for (const pair of header?.split(';') ?? []) {
    const equals = pair.indexOf('=');
    if (equals > 0 && pair.slice(0, equals).trim() === NAME) {
      return pair.slice(equals + 1).trim() || null;
    }
  }
  return null;
}
