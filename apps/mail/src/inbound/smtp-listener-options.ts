import type { SmtpHandlers } from './smtp-delivery';

export interface SmtpLimits {
  /** Octets of one message, offered as SIZE. */
  readonly maxMessageBytes: number;
  /** Recipients of one message. RFC 5321 §4.5.3.1.8 wants at least 100. */
  readonly maxRecipients: number;
  readonly maxSessions: number;
  /** Octets of all messages being received or made durable at the same time. */
  readonly maxInFlightBytes: number;
  /** `Received` fields from which a message counts as looping. RFC 5321 §6.3 wants room for 100. */
  readonly maxReceivedFields: number;
  /** Milliseconds a client may be silent. RFC 5321 §4.5.3.2.7 wants at least five minutes. */
  readonly idleTimeoutMs: number;
  /** Event loop lag in milliseconds from which new sessions and messages are put off. */
  readonly maxLagMs: number;
  /** Milliseconds that running transactions have when the listener stops. */
  readonly stopGraceMs: number;
}

export const DEFAULT_SMTP_LIMITS: SmtpLimits = {
  maxMessageBytes: 35 * 1024 * 1024,
  maxRecipients: 100,
  maxSessions: 1000,
  maxInFlightBytes: 256 * 1024 * 1024,
  maxReceivedFields: 30,
  idleTimeoutMs: 300_000,
  maxLagMs: 1000,
  stopGraceMs: 10_000,
};

export interface SmtpListenerOptions {
  readonly protocol: 'smtp' | 'lmtp';
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Our name in the greeting and in `Received`. */
  readonly hostName: string;
  readonly limits?: Partial<SmtpLimits>;
  readonly handlers: SmtpHandlers;
  /**
   * Takes one token of the bucket `connect:<ip>` or `mail:<ip>`; false when there is none left.
   * A rejected promise lets the client pass: a lost counter must not stop mail.
   */
  readonly consume?: (key: string) => Promise<boolean>;
  /** PEM; offers STARTTLS when given. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Peers greeted without the early-talker wait; by default the loopback, for LMTP everybody. */
  readonly greetsAtOnce?: (clientAddress: string) => boolean;
  readonly log: SmtpListenerLog;
}

export interface SmtpListenerLog {
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}
