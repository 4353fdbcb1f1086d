import { mailEvent, appendMailEvents, type EventFacts } from '../conversations/mail-events';
import type { EventEnvelope } from '@dak/contracts/events';
import type { SqlExecutor } from '@dak/platform/postgres';
import { appendToSpool } from '../spool/spool';
import type { AttemptResult } from './attempt-result';
import {
  insertAttempts,
  lockSubmissions,
  numberEvents,
  updateDeliveries,
  type LockedSubmission,
} from './result-store';
import { authorOf, releaseScheduled, summarize } from './summarize-submissions';

/**
 * Records attempts of one organization: deliveries, what messages and submissions show of them,
 * events, and mail for mailboxes of this deployment, all or nothing. A result whose lease was lost to
 * a later claim is left out: that claim decides.
 */
export async function recordResults(
  tx: SqlExecutor,
  organizationId: string,
  results: readonly AttemptResult[],
  now: number,
): Promise<void> {
  const at = new Date(now).toISOString();
  const ids = [...new Set(results.map(({ delivery }) => delivery.submissionId))];
  const [locked, held] = await Promise.all([
    lockSubmissions(tx, organizationId, ids),
    updateDeliveries(tx, organizationId, results, at),
  ]);
  const submissions = new Map(locked.map((row) => [row.id, row]));
  const recorded = results.filter(({ delivery }) => held.has(delivery.id));
  if (recorded.length === 0) return;
  const touched = [...new Set(recorded.map(({ delivery }) => delivery.submissionId))];
  const released = touched
    .map((id) => submissions.get(id)!)
    .filter((row) => row.message_status === 'scheduled');
  await Promise.all([
    insertAttempts(tx, organizationId, recorded),
    summarize(tx, organizationId, touched, at),
    ...(released.length === 0
      ? [announce(tx, organizationId, recorded, submissions, held, now)]
      : []),
  ]);
  if (released.length > 0) {
    // Events of a conversation are numbered one after the other.
    await releaseScheduled(
      tx,
      organizationId,
      released.map((row) => ({ ...row, isWithdrawn: withdrawnOnly(recorded, row.id) })),
      now,
    );
    await announce(tx, organizationId, recorded, submissions, held, now);
  }
  const spooled = recorded.flatMap(({ spool }) => (spool === null ? [] : [spool]));
  if (spooled.length > 0) {
    // The spool rows belong to other tenants; its policy admits workers.
    await tx.query(`select set_config('dak.worker', 'on', true)`);
    await appendToSpool(tx, spooled);
  }
}

function withdrawnOnly(recorded: readonly AttemptResult[], submissionId: string): boolean {
  return recorded
    .filter(({ delivery }) => delivery.submissionId === submissionId)
    .every(({ result }) => result.state === 'canceled');
}

async function announce(
  tx: SqlExecutor,
  organizationId: string,
  recorded: readonly AttemptResult[],
  submissions: ReadonlyMap<string, LockedSubmission>,
  roles: ReadonlyMap<string, string>,
  now: number,
): Promise<void> {
  const final = recorded.filter(
    ({ result }) => result.state === 'sent' || result.state === 'failed',
  );
  if (final.length === 0) return;
  const byConversation = Map.groupBy(
    final,
    ({ delivery }) => submissions.get(delivery.submissionId)!.conversation_id,
  );
  const numbered = await numberEvents(
    tx,
    organizationId,
    [...byConversation].map(([id, some]) => ({ id, count: some.length })),
  );
  const events: EventEnvelope[] = [];
  for (const row of numbered) {
    const some = byConversation.get(row.id) ?? [];
    some.forEach((attempt, index) => {
      const submission = submissions.get(attempt.delivery.submissionId)!;
      const facts: EventFacts = {
        organizationId,
        mailboxId: row.mailbox_id,
        departmentId: row.department_id,
        conversationId: row.id,
        messageId: submission.id,
        sequence: row.last - some.length + 1 + index,
        occurredAt: now,
        actor: authorOf(submission),
        traceparent: attempt.delivery.traceparent,
      };
      events.push(eventOf(attempt, submission, facts, roles.get(attempt.delivery.id) === 'bcc'));
    });
  }
  await appendMailEvents(tx, events);
}

function eventOf(
  { delivery, result, route }: AttemptResult,
  submission: LockedSubmission,
  facts: EventFacts,
  blindCopy: boolean,
): EventEnvelope {
  const common = {
    subject: submission.subject,
    recipient: delivery.recipient,
    messageIdHeader: submission.message_id_header,
    attempts: delivery.attempts,
    deliveryId: delivery.id,
    blindCopy,
  };
  return result.state === 'sent'
    ? mailEvent('mail.sent', facts, {
        ...common,
        smtpCode: result.smtpCode ?? 250,
        smtpReply: result.diagnostic ?? '',
        transport: route,
        automatic: delivery.isAutomatic,
        submittedAt: new Date(submission.created_at),
      })
    : mailEvent('mail.failed', facts, {
        ...common,
        smtpCode: result.smtpCode ?? undefined,
        diagnostic: result.diagnostic ?? '',
        reason: result.outcome === 'deferred' ? 'expired' : 'refused',
      });
}
