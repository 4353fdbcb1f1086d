import type { DeliveryState } from '../conversations/messages/delivery-state';

/** A delivery that this process holds the lease of, with what sending it takes. */
export interface ClaimedDelivery {
  readonly organizationId: string;
  readonly id: string;
  readonly submissionId: string;
  readonly recipient: string;
  readonly previousState: DeliveryState;
  readonly wasUncertain: boolean;
  readonly attempts: number;
  /** Names this claim; a later one has a higher number. */
  readonly epoch: number;
  /** RFC 3339; from here the days until giving up are counted. */
  readonly dueSince: string;
  readonly conversationId: string;
  readonly mailFrom: string;
  readonly rawSha256: string;
  readonly isAutomatic: boolean;
  readonly atMostOnce: boolean;
  readonly cancelIfReply: boolean;
  readonly submittedAt: string;
  readonly mailboxId: string;
  /** By its mailbox: `held` while that is disabled, `withdrawn` once it is deleted. */
  readonly readiness: 'ready' | 'held' | 'withdrawn';
  /** Whose the domain of the sender is; `unsettled` while several organizations use it and none has proved it. */
  readonly senderDomain: 'owned' | 'unsettled' | 'foreign';
  /** W3C trace context of the submission, then of the attempt. */
  readonly traceparent: string | null;
}
