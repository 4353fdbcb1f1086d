import type { SmtpEndpoint } from './smtp-endpoint';
import { classifySmtpReply } from './classify-smtp-reply';
import type { OnSmtpPhase, RecipientResult } from './smtp-phase';
import { closeSmtpSession, openSmtpSession, SmtpSessionError } from './smtp-session';
import { assertSubmission, sendSmtpTransaction, type SmtpSubmission } from './smtp-transaction';

/**
 * Sends one message over a separate connection.
 * @throws InvalidError for addresses or credentials that could carry a command
 * @throws whatever `onPhase` rejects with, see `sendSmtpTransaction`
 */
export async function sendSmtp(
  endpoint: SmtpEndpoint,
  submission: SmtpSubmission,
  onPhase: OnSmtpPhase,
): Promise<RecipientResult[]> {
  assertSubmission(submission);
  try {
    const session = await openSmtpSession(endpoint, onPhase);
    const results = await sendSmtpTransaction(session, submission, onPhase);
    await closeSmtpSession(session);
    return results;
  } catch (error) {
    if (error instanceof SmtpSessionError) return sessionFailed(submission, error);
    throw error;
  }
}

/** The results of a submission for which no session came about. */
export function sessionFailed(
  submission: SmtpSubmission,
  { phase, reply, message }: SmtpSessionError,
): RecipientResult[] {
  return submission.recipients.map((recipient) => {
    if (reply === undefined) return { recipient, outcome: 'deferred', phase, reason: message };
    const verdict = classifySmtpReply(phase, reply);
    const { code, enhanced, text } = reply;
    return {
      recipient,
      phase,
      reply: { code, enhanced, text },
      ...verdict,
      // A greeting such as 250 is nonsense and no acceptance.
      outcome: verdict.outcome === 'rejected' ? 'rejected' : 'deferred',
    };
  });
}
