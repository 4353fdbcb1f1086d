export type { SmtpEndpoint, SmtpTlsMode } from './smtp-endpoint';
export type { OnSmtpPhase, RecipientResult, SmtpPhase } from './smtp-phase';
export { createSmtpPool } from './smtp-pool';
export type { SmtpSubmission } from './smtp-transaction';
