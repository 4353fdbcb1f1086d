import { SUBMISSION_LIMITS } from '../submissions/submission-limits';
import type { MailboxRecord } from './mailbox-records';

/** What one mailbox may do; the same for every mailbox of the deployment. */
export const MAILBOX_LIMITS: MailboxRecord['limits'] = {
  recipients_per_message: SUBMISSION_LIMITS.recipients_per_message,
  sends_per_hour: 100_000,
  sends_per_day: 1_000_000,
  storage_bytes: 50 * 1024 ** 3,
};
