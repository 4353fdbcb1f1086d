/**
 * `none`: never. `opportunistic`: STARTTLS where offered, without checking the certificate unless there
 * are credentials, in the clear where it is not offered (RFC 7435). `required`: STARTTLS or nothing. `implicit`: TLS from the first
 * octet (RFC 8314 §3.3).
 */
export type SmtpTlsMode = 'none' | 'opportunistic' | 'required' | 'implicit';

export type SmtpCredentials =
  | { readonly user: string; readonly password: string }
  /** OAuth 2.0 bearer token, sent as XOAUTH2. */
  | { readonly user: string; readonly accessToken: string };

/** A server to hand mail to, and how. */
export interface SmtpEndpoint {
  readonly protocol: 'smtp' | 'lmtp';
  /** Host name or IP address to connect to. */
  readonly host: string;
  readonly port: number;
  readonly tls: SmtpTlsMode;
  /** Name the certificate has to carry; by default `host`. */
  readonly serverName?: string;
  /** Default: true, but for `opportunistic` without credentials, where it has no effect. */
  readonly verifyCertificate?: boolean;
  /** PEM; replaces the trusted roots of the runtime. */
  readonly ca?: string;
  readonly credentials?: SmtpCredentials;
  /** Sends credentials without TLS. For relays on the same host only. */
  readonly allowPlaintextAuth?: boolean;
  /** Our name in EHLO: a domain that resolves to us, or an address literal (RFC 5321 §4.1.4). */
  readonly localName: string;
  /** Local IP address to connect from. */
  readonly localAddress?: string;
  readonly timeouts?: Partial<SmtpTimeouts>;
}

/** Milliseconds. */
export interface SmtpTimeouts {
  readonly connect: number;
  readonly greeting: number;
  readonly ehlo: number;
  readonly tls: number;
  readonly auth: number;
  readonly mail: number;
  readonly rcpt: number;
  /** DATA until 354 */
  readonly data: number;
  /** per block of 64 KiB */
  readonly body: number;
  readonly finalDot: number;
  readonly quit: number;
}

/**
 * RFC 5321 §4.5.3.2, but for the connection, which the operating system would try for two minutes
 * and more, and for QUIT, whose reply is not needed.
 */
export const DEFAULT_SMTP_TIMEOUTS: SmtpTimeouts = {
  connect: 30_000,
  greeting: 300_000,
  ehlo: 300_000,
  tls: 60_000,
  auth: 300_000,
  mail: 300_000,
  rcpt: 300_000,
  data: 120_000,
  body: 180_000,
  finalDot: 600_000,
  quit: 5_000,
};
