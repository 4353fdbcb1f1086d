import type { PemPair } from '@dak/platform/tls-files';
import type { SmtpHandlers } from './smtp-delivery';
import type { RefusalReason } from './smtp-replies';

export interface SmtpLimits {
  /** Octets of one message, offered as SIZE. */
  readonly maxMessageBytes: number;
  /** Recipients of one message. RFC 5321 §4.5.3.1.8 wants at least 100. */
  readonly maxRecipients: number;
  readonly maxSessions: number;
  /** Sessions of one client: an IPv4 address or an IPv6 /64. */
  readonly sessionsPerClient: number;
  /**
   * Sessions of one network, a /24 or /48. A quarter of the listener: the blocks that are cheap to rent
   * have that size, and large senders stay far below it (the most seen of one /24 are some dozens).
   */
  readonly sessionsPerNetwork: number;
  /**
   * Octets of all messages being received or made durable at the same time; each is copied once on its way, so that
   * up to twice as much is in memory. Who finds no room comes again later.
   */
  readonly maxInFlightBytes: number;
  /** The part of it that one client can take. */
  readonly maxInFlightBytesPerClient: number;
  /** `Received` fields from which a message counts as looping. RFC 5321 §6.3 wants room for 100. */
  readonly maxReceivedFields: number;
  /**
   * Milliseconds a client may be silent, and may take for a step of a transaction. RFC 5321 §4.5.3.2.7
   * wants at least five minutes.
   */
  readonly idleTimeoutMs: number;
  /** Milliseconds from the connection to the first accepted MAIL, whatever is said meanwhile. */
  readonly beforeMailMs: number;
  /** What content has to arrive at after `idleTimeoutMs`, on the average. */
  readonly minContentBytesPerSecond: number;
  /** Event loop lag in milliseconds from which new sessions and messages are put off. */
  readonly maxLagMs: number;
  /** Milliseconds that running transactions have when the listener stops. */
  readonly stopGraceMs: number;
}

export const DEFAULT_SMTP_LIMITS: SmtpLimits = {
  maxMessageBytes: 35 * 1024 * 1024,
  maxRecipients: 100,
  maxSessions: 1000,
  sessionsPerClient: 20,
  sessionsPerNetwork: 250,
  maxInFlightBytes: 128 * 1024 * 1024,
  maxInFlightBytesPerClient: 96 * 1024 * 1024,
  maxReceivedFields: 30,
  idleTimeoutMs: 300_000,
  beforeMailMs: 30_000,
  minContentBytesPerSecond: 4096,
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
   * Takes one token of the bucket `connect:<client>` or `mail:<client>`, see `clientNetwork`; false when
   * there is none left.
   * A rejected promise lets the client pass: a lost counter must not stop mail.
   */
  readonly consume?: (key: string) => Promise<boolean>;
  /** Offers STARTTLS when given, TLS 1.2 or newer. */
  readonly tls?: PemPair;
  /** Peers greeted without the early-talker wait; by default the loopback, for LMTP everybody. */
  readonly greetsAtOnce?: (clientAddress: string) => boolean;
  readonly log: SmtpListenerLog;
  /** A session, recipient or message was refused. */
  readonly onRefused?: (reason: RefusalReason) => void;
  /** A message was answered with 250. */
  readonly onAccepted?: () => void;
}

export interface SmtpListenerLog {
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}
