/** RFC 3464 §2.3.3; `unknown` where a non-standard report does not say. */
export const DELIVERY_ACTIONS = [
  'failed',
  'delayed',
  'delivered',
  'relayed',
  'expanded',
  'unknown',
] as const;
export type DeliveryAction = (typeof DELIVERY_ACTIONS)[number];

/** The fields of one per-recipient group (RFC 3464 §2.3), as they stand in the report. */
export interface RecipientStatus {
  originalRecipient: string | null;
  finalRecipient: string | null;
  action: DeliveryAction;
  /** Enhanced status code without comment ("5.1.1"); null when absent or malformed. */
  status: string | null;
  remoteMta: string | null;
  /** Type of the diagnostic, lower case: `smtp`, `x-unix`, `x-postfix`, …; null when there is none. */
  diagnosticType: string | null;
  diagnosticCode: string | null;
  lastAttemptDate: string | null;
  willRetryUntil: string | null;
}

/** A `message/delivery-status` body (RFC 3464 §2.1). */
export interface DeliveryStatus {
  originalEnvelopeId: string | null;
  reportingMta: string | null;
  receivedFromMta: string | null;
  arrivalDate: string | null;
  recipients: RecipientStatus[];
}

/** What a report says of one recipient, in the form that the rest of Dak works with. */
export interface RecipientOutcome {
  /** The original recipient if the report has it, else the final one; null if it names none. */
  recipient: string | null;
  action: DeliveryAction;
  /** Enhanced status code (RFC 3463); null when the report has none. */
  status: string | null;
  /** Reply code of the remote server (RFC 5321 §4.2); null when the report has none. */
  smtpCode: number | null;
  /** True when a later attempt is pointless because the address or its domain does not exist. */
  hard: boolean;
  reason: BounceReason;
  finalRecipient: string | null;
  originalRecipient: string | null;
  remoteMta: string | null;
  /** The words of the remote server or of the reporting one; null when there are none. */
  diagnosticCode: string | null;
}

/** Causes in the vocabulary of the field; the bounce corpora of the tests use the same words. */
export const BOUNCE_REASONS = [
  'authfailure',
  'badreputation',
  'blocked',
  'contenterror',
  'delivered',
  'exceedlimit',
  'expired',
  'failedstarttls',
  'feedback',
  'filtered',
  'hasmoved',
  'hostunknown',
  'mailboxfull',
  'mailererror',
  'mesgtoobig',
  'networkerror',
  'norelaying',
  'notaccept',
  'notcompliantrfc',
  'onhold',
  'policyviolation',
  'rejected',
  'requireptr',
  'securityerror',
  'spamdetected',
  'speeding',
  'suspend',
  'syntaxerror',
  'systemerror',
  'systemfull',
  'toomanyconn',
  'undefined',
  'userunknown',
  'vacation',
  'virusdetected',
] as const;
export type BounceReason = (typeof BOUNCE_REASONS)[number];
