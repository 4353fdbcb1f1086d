import type { RecipientVerdict } from '../../mailboxes/addresses/recipient-verdict';
import type { AcceptOutcome } from './smtp-delivery';

/**
 * A negative reply as smtp-server wants it: an error with a code. `text` begins with the enhanced
 * status code (RFC 3463).
 */
export class SmtpRefusal extends Error {
  override readonly name = 'SmtpRefusal';
  constructor(
    readonly responseCode: number,
    text: string,
    readonly reason: RefusalReason,
  ) {
    super(text);
  }
}

/** Label of `dak_smtp_refusals_total`. */
export type RefusalReason =
  | 'client_limit'
  | 'network_limit'
  | 'session_limit'
  | 'rate'
  | 'overloaded'
  | 'stopping'
  | 'timeout'
  | 'memory'
  | 'storage'
  | 'too_large'
  | 'loop'
  | 'unknown_recipient'
  | 'disabled'
  | 'suspended'
  | 'over_quota'
  | 'deferred'
  | 'rejected'
  | 'failed';

const TOO_MANY = '4.7.0 Too many connections from your';

export const refusals = {
  overloaded: () =>
    new SmtpRefusal(421, '4.3.2 Too busy at the moment, try again later', 'overloaded'),
  stopping: () => new SmtpRefusal(421, '4.3.2 Shutting down, try again later', 'stopping'),
  tooManyConnections: () => new SmtpRefusal(421, `${TOO_MANY} address, try again later`, 'rate'),
  tooManySessions: () =>
    new SmtpRefusal(421, `${TOO_MANY} address at a time, try again later`, 'client_limit'),
  networkFull: () =>
    new SmtpRefusal(421, `${TOO_MANY} network at a time, try again later`, 'network_limit'),
  listenerFull: () =>
    new SmtpRefusal(421, '4.3.2 Too many connections, try again later', 'session_limit'),
  timeout: () => new SmtpRefusal(421, '4.4.2 Timeout, closing connection', 'timeout'),
  tooManyMessages: () =>
    new SmtpRefusal(450, '4.7.0 Too many messages from your address, try again later', 'rate'),
  outOfMemory: () =>
    new SmtpRefusal(452, '4.3.1 Not enough room at the moment, try again later', 'memory'),
  tooLarge: (maxBytes: number) =>
    new SmtpRefusal(552, `5.3.4 The message is larger than ${maxBytes} octets`, 'too_large'),
  loop: () => new SmtpRefusal(554, '5.4.6 Too many hops, this message is in a loop', 'loop'),
  storageFull: () =>
    new SmtpRefusal(452, '4.3.1 Not enough storage at the moment, try again later', 'storage'),
  failed: () => new SmtpRefusal(451, '4.3.0 Not possible at the moment, try again later', 'failed'),
} as const;

/** Null for a recipient to deliver to. */
export function refusalOfVerdict(verdict: RecipientVerdict): SmtpRefusal | null {
  switch (verdict.kind) {
    case 'deliver':
      return null;
    case 'unknown':
      return new SmtpRefusal(
        550,
        '5.1.1 There is no mailbox with this address here',
        'unknown_recipient',
      );
    case 'disabled':
      return new SmtpRefusal(550, '5.2.1 This mailbox is disabled', 'disabled');
    case 'suspended':
      return new SmtpRefusal(450, '4.7.1 This mailbox takes no mail at the moment', 'suspended');
    case 'over_quota':
      return new SmtpRefusal(452, '4.2.2 This mailbox is full', 'over_quota');
    case 'deferred':
      return new SmtpRefusal(
        450,
        `4.3.0 ${verdict.text ?? 'Not possible at the moment'}`,
        'deferred',
      );
    case 'refused':
      return new SmtpRefusal(550, `5.7.1 ${verdict.text ?? 'Not permitted'}`, 'rejected');
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
        : new SmtpRefusal(451, `4.3.0 ${outcome.text}`, 'deferred');
    case 'over_quota':
      return new SmtpRefusal(452, '4.2.2 This mailbox is full', 'over_quota');
    case 'storage_full':
      return refusals.storageFull();
    case 'rejected':
      return new SmtpRefusal(554, `5.7.1 ${outcome.text ?? 'Not permitted'}`, 'rejected');
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
  const worst = outcomes.find(({ kind }) => kind !== 'accepted' && kind !== 'rejected');
  if (worst !== undefined) return replyToOutcome(worst, queueId);
  const mixed = outcomes.some(({ kind }) => kind !== first.kind);
  return mixed ? refusals.failed() : replyToOutcome(first, queueId);
}
