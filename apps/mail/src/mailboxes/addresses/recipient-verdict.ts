/** The mailbox a recipient address leads to. */
export interface RecipientTarget {
  readonly organizationId: string;
  readonly mailboxId: string;
}

/**
 * The answer to RCPT, decided before any content is accepted, so that no recipient is accepted and bounced
 * later (backscatter). `text`, where given, replaces the default sentence of the reply.
 */
export type RecipientVerdict =
  /** 250 2.1.5 */
  | { readonly kind: 'deliver'; readonly target: RecipientTarget }
  /** 550 5.1.1: no mailbox has this address */
  | { readonly kind: 'unknown' }
  /** 550 5.2.1: the mailbox exists and is switched off */
  | { readonly kind: 'disabled' }
  /** 450 4.7.1: the organization is suspended, which may be lifted */
  | { readonly kind: 'suspended' }
  /** 452 4.2.2: the mailbox or the organization is over its quota */
  | { readonly kind: 'over_quota' }
  /** 450 4.3.0 */
  | { readonly kind: 'deferred'; readonly text?: string }
  /** 550 5.7.1 */
  | { readonly kind: 'refused'; readonly text?: string };
