/** What came of a request, as far as the other side can be blamed for it. */
export const ATTEMPT_ERRORS = [
  'invalid_url',
  'blocked_address', // the guard refused an address; nothing was sent
  'dns',
  'refused',
  'unreachable',
  'connect_timeout',
  'tls',
  'timeout', // connected, but no status within the deadline
  'reset', // the connection ended before a status
  'protocol', // what came is not HTTP/1.1
  'oversize', // header section too large
  'aborted', // by our own signal
] as const;
export type AttemptError = (typeof ATTEMPT_ERRORS)[number];

export type AttemptOutcome =
  | {
      readonly kind: 'response';
      readonly status: number;
      /** Names in lower case; of a repeated field the first value. */
      readonly headers: Readonly<Record<string, string>>;
      /** The body as sent, undecoded, up to the limit. */
      readonly bodyStart: Buffer;
      /** The body went on, stalled, or broke off; the status counts all the same. */
      readonly truncated: boolean;
      readonly durationMs: number;
    }
  | {
      readonly kind: 'error';
      readonly code: AttemptError;
      /** One sentence for people, without addresses of our network. */
      readonly detail: string;
      readonly durationMs: number;
    };

/** An address that the guard refused, as an error of the connection. */
export class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError';
}

/** A name that did not resolve. */
export class ResolutionError extends Error {
  override readonly name = 'ResolutionError';
}

const DETAILS: Record<Exclude<AttemptError, 'blocked_address' | 'invalid_url'>, string> = {
  dns: 'The name of the host does not resolve.',
  refused: 'The host refused the connection.',
  unreachable: 'The host cannot be reached.',
  connect_timeout: 'The host did not accept the connection in time.',
  tls: 'The TLS certificate or handshake was not acceptable.',
  timeout: 'No status came within the time allowed.',
  reset: 'The connection was closed before a status came.',
  protocol: 'What came back is not HTTP/1.1.',
  oversize: 'The header section of the reply is too large.',
  aborted: 'The request was given up on this side.',
};

/** The class of an error of undici, node:net, node:tls or the guard, with a sentence. */
export function classifyError(error: unknown): { code: AttemptError; detail: string } {
  if (error instanceof BlockedAddressError) {
    return { code: 'blocked_address', detail: `url ${error.message}.` };
  }
  const code = errorClass(error);
  const cause = code === 'tls' ? ` (${codeOf(error)})` : '';
  return { code, detail: sentenceOf(code).replace(/\.$/, `${cause}.`) };
}

export function sentenceOf(code: keyof typeof DETAILS): string {
  return DETAILS[code];
}

function errorClass(error: unknown): keyof typeof DETAILS {
  if (error instanceof ResolutionError) return 'dns';
  // Several addresses were tried (RFC 8305): all errors are alike, or the first is as good as any.
  if (error instanceof AggregateError) return errorClass(error.errors[0]);
  const code = codeOf(error);
  switch (code) {
    case 'ECONNREFUSED':
      return 'refused';
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ENETDOWN':
    case 'EADDRNOTAVAIL':
      return 'unreachable';
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'ETIMEDOUT':
      return 'connect_timeout';
    case 'UND_ERR_HEADERS_OVERFLOW':
      return 'oversize';
    case 'UND_ERR_SOCKET':
    case 'ECONNRESET':
    case 'ECONNABORTED':
    case 'EPIPE':
      return 'reset';
    default:
      return isTlsCode(code) ? 'tls' : 'protocol';
  }
}

/** Codes of OpenSSL's verification (X509_V_ERR_…) as node:tls spells them, and of handshakes. */
function isTlsCode(code: string): boolean {
  return (
    /^(?:CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CRL_|HOSTNAME_|INVALID_CA|INVALID_PURPOSE)/.test(
      code,
    ) || code === 'EPROTO'
  );
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}
