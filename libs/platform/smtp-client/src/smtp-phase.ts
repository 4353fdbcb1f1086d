import type { SmtpReply } from './smtp-reply';

/**
 * How far an attempt got, in order. `final_dot` is announced before the dot is written: while the
 * last stored phase comes before it, the server cannot have taken the message.
 */
export const SMTP_PHASES = [
  'connect',
  'greeting',
  'ehlo',
  'tls',
  'auth',
  'mail',
  'rcpt',
  'data',
  'body',
  'final_dot',
  'accepted',
] as const;
export type SmtpPhase = (typeof SMTP_PHASES)[number];

/**
 * Awaited, so that the caller can make the phase durable before the client goes on. A rejection
 * ends the attempt and the connection and is passed to the caller.
 */
export type OnSmtpPhase = (phase: SmtpPhase) => void | Promise<void>;

export type RecipientOutcome = 'accepted' | 'deferred' | 'rejected' | 'ambiguous';

export interface RecipientResult {
  readonly recipient: string;
  /**
   * `ambiguous`: the final dot was written and no reply seen, the server may or may not have taken
   * the message (RFC 5321 §6.1, RFC 1047).
   */
  readonly outcome: RecipientOutcome;
  /** The reply that decided; absent when the connection failed or the client itself refused. */
  readonly reply?: Pick<SmtpReply, 'code' | 'enhanced' | 'text'>;
  /** Where it was decided. */
  readonly phase: SmtpPhase;
  /** What the server asked for, in its own words; not capped. */
  readonly retryAfterSeconds?: number;
  /** What failed, in one sentence, where there is no reply. */
  readonly reason?: string;
}
