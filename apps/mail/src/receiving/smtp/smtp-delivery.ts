/**
 * The SMTP and LMTP listeners' interface to the spool. No I/O: both
 * sides import this file and neither imports the other.
 */
import type {
  RecipientTarget,
  RecipientVerdict,
} from '../../mailboxes/addresses/recipient-verdict';

/** Transmission type in the `with` clause of our trace header (RFC 5321 §4.4, RFC 3848, RFC 6531 §4.3). */
export type TransmissionType =
  | 'SMTP'
  | 'ESMTP'
  | 'ESMTPS'
  | 'LMTP'
  | 'LMTPS'
  | 'UTF8SMTP'
  | 'UTF8SMTPS'
  | 'UTF8LMTP'
  | 'UTF8LMTPS';

export interface DeliveryRecipient {
  /** As given in RCPT, without angle brackets; the domain may be in its Unicode form. */
  readonly address: string;
  readonly target: RecipientTarget;
}

/** One mail transaction with at least one accepted recipient, complete up to its final dot. */
export interface SmtpDelivery {
  /** Also in the 250 reply and in our `Received` field. */
  readonly queueId: string;
  /** Reverse path without angle brackets; empty for the null reverse path `<>` of a notification. */
  readonly mailFrom: string;
  readonly recipients: readonly DeliveryRecipient[];
  /**
   * The message as received, dots unstuffed, our `Received` field in front. Line ends are those of
   * the sender: a bare CR or LF may occur and is only normalized where mail leaves us.
   */
  readonly raw: Buffer;
  /** IP address of the peer, without an IPv4-mapped prefix. */
  readonly clientAddress: string;
  /** The EHLO, HELO or LHLO argument as received. */
  readonly helo: string;
  readonly protocol: TransmissionType;
  readonly tls: { readonly cipher: string; readonly version: string } | null;
  /** When the final dot was read. */
  readonly receivedAt: Date;
}

/**
 * What became of one recipient. LMTP answers each on its own; SMTP has one reply for all, so a mix
 * becomes a transient failure there, and the spool recognizes the repeat by content.
 */
export type AcceptOutcome =
  /** Durable. 250 2.6.0 with the queue id. */
  | { readonly kind: 'accepted' }
  /** 451 4.3.0, the sender tries again */
  | { readonly kind: 'deferred'; readonly text?: string }
  /** 452 4.2.2 */
  | { readonly kind: 'over_quota' }
  /** 452 4.3.1: the disk is full */
  | { readonly kind: 'storage_full' }
  /** 554 5.7.1 */
  | { readonly kind: 'rejected'; readonly text?: string };

export interface SmtpHandlers {
  /** Called once per RCPT. A rejected promise becomes 451 4.3.0. */
  resolveRecipient(address: string): Promise<RecipientVerdict>;
  /**
   * Called once per message after the final dot; resolve only when the message is durable. Outcomes
   * stand in the order of `delivery.recipients`. A rejected promise becomes 451 4.3.0 for all.
   * @param onPlaced to be called when the content is not needed in memory any more, if that is before the outcome
   */
  accept(delivery: SmtpDelivery, onPlaced: () => void): Promise<readonly AcceptOutcome[]>;
}
