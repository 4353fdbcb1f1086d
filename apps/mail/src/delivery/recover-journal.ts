import type { Clock } from '@dak/kernel';
import type { Database } from '@dak/platform/postgres';
import type { ClaimedDelivery } from './claimed-delivery';
import type { DeliveryJournal, JournalEntry } from './delivery-journal';
import type { AttemptResult, DeliveryRoute } from './attempt-result';
import { recordResults } from './record-results';
import { selectUnrecorded, type UnrecordedRow } from './result-store';

/** Records results that an earlier process received from the next hop but could not commit before it died. */
export async function recoverJournal(
  database: Database,
  journal: DeliveryJournal,
  clock: Clock,
): Promise<void> {
  const byOrganization = Map.groupBy(journal.inherited, (entry) => entry.organizationId);
  for (const [organizationId, entries] of byOrganization) {
    const now = clock();
    await database.inTenant(organizationId, async (tx) => {
      const rows = await selectUnrecorded(tx, organizationId, entries);
      const noted = new Map(entries.map((entry) => [entry.deliveryId, entry]));
      const results = rows.map((row) => accepted(organizationId, row, noted.get(row.id)!, now));
      if (results.length > 0) await recordResults(tx, organizationId, results, now);
    });
    journal.committed(entries.length);
  }
}

function accepted(
  organizationId: string,
  row: UnrecordedRow,
  entry: JournalEntry,
  now: number,
): AttemptResult {
  const delivery: ClaimedDelivery = {
    organizationId,
    id: row.id,
    submissionId: row.submission_id,
    recipient: row.recipient,
    previousState: 'sending',
    wasUncertain: row.was_uncertain,
    attempts: row.attempts,
    epoch: row.lease_epoch,
    dueSince: row.created_at,
    conversationId: row.conversation_id,
    mailFrom: row.mail_from,
    rawSha256: row.raw_sha256,
    isAutomatic: row.is_automatic,
    atMostOnce: row.at_most_once,
    cancelIfReply: row.cancel_if_reply,
    submittedAt: row.created_at,
    mailboxId: row.mailbox_id,
    readiness: 'ready',
    senderDomain: 'owned',
    traceparent: row.traceparent,
  };
  return {
    delivery,
    result: {
      state: 'sent',
      outcome: 'accepted',
      nextAttemptAt: null,
      phase: 'accepted',
      smtpCode: entry.smtpCode,
      enhanced: entry.enhanced,
      diagnostic: entry.text,
    },
    route: entry.transport as DeliveryRoute,
    startedAt: now,
    finishedAt: now,
    spool: null,
  };
}
