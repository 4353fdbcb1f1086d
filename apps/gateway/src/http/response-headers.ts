import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

/** Flat list of names and values, as `writeHead` takes it. */
export type HeaderList = readonly string[];

/**
 * The security headers of every reply. They never differ between requests, so helmet writes them
 * once, onto a recorder, instead of a dozen times per request.
 * @param isHttps adds Strict-Transport-Security
 */
export function securityHeaders(isHttps: boolean, contentSecurityPolicy: string): HeaderList {
  const list: string[] = [
    'Content-Security-Policy',
    contentSecurityPolicy,
    'Cache-Control',
    'no-store',
  ];
  const recorder = {
    setHeader: (name: string, value: string) => list.push(name, value),
    removeHeader: () => undefined,
  };
  const middleware = helmet({
    contentSecurityPolicy: false,
    strictTransportSecurity: isHttps,
    xXssProtection: false,
    referrerPolicy: { policy: 'no-referrer' },
  });
  middleware({} as IncomingMessage, recorder as unknown as ServerResponse, (error?: unknown) => {
    if (error !== undefined) throw error as Error;
  });
  return list;
}

/** Nothing of an API reply may be run or framed by a browser that shows it. */
export const API_CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'";
