import type { RecipientOutcome, SmtpPhase } from './smtp-phase';
import type { SmtpReply } from './smtp-reply';

export interface ReplyVerdict {
  readonly outcome: Exclude<RecipientOutcome, 'ambiguous'>;
  /** What the server asked for, in seconds; see `retryHintSeconds`. */
  readonly retryAfterSeconds?: number;
}

/** Phases that set the session up: a refusal there is about us or the host, not the recipient. */
const SESSION_PHASES: ReadonlySet<SmtpPhase> = new Set(['ehlo', 'tls', 'auth']);

/** Permanent codes that speak of the session or our credentials (RFC 5321 §4.2.2, RFC 4954 §6). */
const SESSION_CODES: ReadonlySet<number> = new Set([503, 530, 534, 535, 538]);

/** Servers that mean "later" and say 5yz. */
const TRANSIENT_TEXT = [
  /\bgr[ae]y-?\s?list/i,
  /\brate[ -]?limit/i,
  /\blimit(?:ed)? (?:the )?rate\b/i,
  /\bthrottl/i,
  /\btoo many (?:connections|sessions|messages|mails|emails|requests|recipients this)\b/i,
  /\btoo (?:fast|frequent)/i,
  /\btry (?:again )?(?:later|in|after)\b/i,
  /\btemporar(?:y|ily)\b/i,
];

/**
 * What a reply means for the message in hand.
 *
 * 2yz and 3yz: accepted. 4yz: deferred. 5yz: rejected, except where the refusal is about the session
 * and not the recipient: while the session is set up, a 503 or 521 greeting (RFC 7504 §2.1 leaves the
 * try to the next host), missing authentication, and texts of greylisting and rate limits. 552 to
 * RCPT without a size or quota code means "too many recipients" (RFC 5321 §4.5.3.1.10).
 */
export function classifySmtpReply(
  phase: SmtpPhase,
  reply: Pick<SmtpReply, 'code' | 'enhanced' | 'text'>,
): ReplyVerdict {
  if (reply.code < 400) return { outcome: 'accepted' };
  const hint = retryHintSeconds(reply.text);
  const deferred: ReplyVerdict =
    hint === null ? { outcome: 'deferred' } : { outcome: 'deferred', retryAfterSeconds: hint };
  if (reply.code < 500 || SESSION_PHASES.has(phase) || SESSION_CODES.has(reply.code)) {
    return deferred;
  }
  if (phase === 'greeting' && reply.code === 521) return deferred;
  if (phase === 'rcpt' && reply.code === 552) {
    const aboutRecipient = /^5\.(?:2\.\d+|3\.4)$/.test(reply.enhanced ?? '');
    const words = /quota|full|size|storage/i.test(reply.text);
    if (!aboutRecipient && !words) return deferred;
  }
  if (TRANSIENT_TEXT.some((pattern) => pattern.test(reply.text))) return deferred;
  return { outcome: 'rejected' };
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

const HINT_WORDS = String.raw`(?:in|after|for|wait|within|another|retry[-_ ]?after[:=]?)`;
const HINT_UNITS = String.raw`(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)\b`;
const COUNT_HINT = new RegExp(String.raw`\b${HINT_WORDS}\s*(\d{1,6})\s*${HINT_UNITS}`, 'i');
const CLOCK_HINT = new RegExp(String.raw`\b${HINT_WORDS}\s*(\d{1,3}):(\d\d):(\d\d)\b`, 'i');

/** The wait a reply asks for, as "in 120 seconds", "wait 5 min" or "after 00:04:30"; else null. */
export function retryHintSeconds(text: string): number | null {
  const clock = CLOCK_HINT.exec(text);
  if (clock !== null) {
    return Number(clock[1]) * 3600 + Number(clock[2]) * 60 + Number(clock[3]);
  }
  const count = COUNT_HINT.exec(text);
  if (count === null) return null;
  const unit = UNIT_SECONDS[(count[2] ?? 's').charAt(0).toLowerCase()] ?? 1;
  return Number(count[1]) * unit;
}
