import type { AcceptOutcome, RecipientVerdict } from './smtp-delivery';

/**
 * A negative reply as smtp-server wants it: an error with a code. `text` begins with the enhanced
 * status code (RFC 3463).
 */
export class SmtpRefusal extends Error {
  override readonly name = 'SmtpRefusal';
  constructor(
    readonly responseCode: number,
    text: string,
  ) {
    super(text);
  }
}

export const refusals = {
  overloaded: () => new SmtpRefusal(421, '4.3.2 Too busy at the moment, try again later'),
  stopping: () => new SmtpRefusal(421, '4.3.2 Shutting down, try again later'),
  tooManyConnections: () =>
    new SmtpRefusal(421, '4.7.0 Too many connections from your address, try again later'),
  tooManyMessages: () =>
    new SmtpRefusal(450, '4.7.0 Too many messages from your address, try again later'),
  outOfMemory: () => new SmtpRefusal(452, '4.3.1 Not enough room at the moment, try again later'),
  tooLarge: (maxBytes: number) =>
    new SmtpRefusal(552, `5.3.4 The message is larger than ${maxBytes} octets`),
  loop: () => new SmtpRefusal(554, '5.4.6 Too many hops, this message is in a loop'),
  failed: () => new SmtpRefusal(451, '4.3.0 Not possible at the moment, try again later'),
} as const;

/** Null for a recipient to deliver to. */
export function refusalOfVerdict(verdict: RecipientVerdict): SmtpRefusal | null {
  switch (verdict.kind) {
    case 'deliver':
      return null;
    case 'unknown':
      return new SmtpRefusal(550, '5.1.1 There is no mailbox with this address here');
    case 'disabled':
      return new SmtpRefusal(550, '5.2.1 This mailbox is disabled');
    case 'suspended':
      return new SmtpRefusal(450, '4.7.1 This mailbox takes no mail at the moment');
    case 'over_quota':
      return new SmtpRefusal(452, '4.2.2 This mailbox is full');
    case 'deferred':
      return new SmtpRefusal(450, `4.3.0 ${verdict.text ?? 'Not possible at the moment'}`);
    case 'refused':
      return new SmtpRefusal(550, `5.7.1 ${verdict.text ?? 'Not permitted'}`);
  }
}

/** The reply to the final dot for one recipient: the text of a 250, or a refusal. */
export function replyToOutcome(outcome: AcceptOutcome, queueId: string): string | SmtpRefusal {
  switch (outcome.kind) {
    case 'accepted':
      return `2.6.0 Ok: queued as ${queueId}`;
    case 'deferred':
      return outcome.text === undefined
        ? refusals.failed()
        : new SmtpRefusal(451, `4.3.0 ${outcome.text}`);
    case 'over_quota':
      return new SmtpRefusal(452, '4.2.2 This mailbox is full');
    case 'rejected':
      return new SmtpRefusal(554, `5.7.1 ${outcome.text ?? 'Not permitted'}`);
  }
}

/**
 * The one reply SMTP has for all recipients. The message is taken only when everybody has it; is
 * one outcome transient, the sender repeats it for all.
 */
export function replyToOutcomes(
  outcomes: readonly AcceptOutcome[],
  queueId: string,
): string | SmtpRefusal {
  const first = outcomes[0];
  if (first === undefined) return refusals.failed();
  const worst = outcomes.find(({ kind }) => kind === 'deferred' || kind === 'over_quota');
  if (worst !== undefined) return replyToOutcome(worst, queueId);
  const mixed = outcomes.some(({ kind }) => kind !== first.kind);
  return mixed ? refusals.failed() : replyToOutcome(first, queueId);
}
