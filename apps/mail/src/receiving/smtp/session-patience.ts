import type { SmtpLimits } from './smtp-listener-options';

/** Where a session stands, as far as waiting for its client goes. */
export interface SessionProgress {
  /** It has been more than greetings: a MAIL was accepted. */
  readonly hasBegun: boolean;
  /** Octets of the message that is arriving; null between messages. */
  readonly contentBytes: number | null;
  /** Milliseconds since its last step: connected, MAIL, a recipient, content begun, a message done. */
  readonly sinceProgress: number;
}

export type PatienceLimits = Pick<
  SmtpLimits,
  'beforeMailMs' | 'idleTimeoutMs' | 'minContentBytesPerSecond'
>;

/** How much shorter patience is while the listener is short of sessions (Postfix: `stress`). */
const CROWDED_FACTOR = 10;
const CROWDED_BEFORE_MAIL_MS = 10_000;

/**
 * Whether a session has had its time. Neither single octets nor commands that lead nowhere extend it:
 * only steps of a transaction do, and content as long as it arrives at a least rate.
 */
export function isOverdue(
  { hasBegun, contentBytes, sinceProgress }: SessionProgress,
  limits: PatienceLimits,
  isCrowded: boolean,
): boolean {
  const idleMs = isCrowded ? limits.idleTimeoutMs / CROWDED_FACTOR : limits.idleTimeoutMs;
  if (contentBytes !== null) {
    return sinceProgress > idleMs + (contentBytes / limits.minContentBytesPerSecond) * 1000;
  }
  if (hasBegun) return sinceProgress > idleMs;
  const beforeMailMs = Math.min(limits.beforeMailMs, limits.idleTimeoutMs);
  return (
    sinceProgress > (isCrowded ? Math.min(beforeMailMs, CROWDED_BEFORE_MAIL_MS) : beforeMailMs)
  );
}
