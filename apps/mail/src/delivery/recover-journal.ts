import type { Clock } from '@dak/kernel';
import type { Database } from '@dak/platform/postgres';
import type { ClaimedDelivery } from './claimed-delivery';
import type { DeliveryJournal, JournalEntry } from './delivery-journal';
import type { AttemptResult, DeliveryRoute } from './attempt-result';
import { recordResults } from './record-results';

/** Records what an earlier process was told by the next hop and could not commit before it died. */
export async function recoverJournal(
  database: Database,
  journal: DeliveryJournal,
  clock: Clock,
): Promise<void> {
  const byOrganization = Map.groupBy(journal.inherited, (entry) => entry.organizationId);
  for (const [organizationId, entries] of byOrganization) {
    const now = clock();
    await database.inTenant(organizationId, async (tx) => {
      const { rows } = await tx.query<UnrecordedRow>(
        `select d.id, d.submission_id, d.recipient, d.attempts, d.lease_epoch, d.was_uncertain,
                s.conversation_id, s.mailbox_id, s.mail_from, s.raw_sha256, s.is_automatic, s.at_most_once,
                s.cancel_if_reply, s.created_at, s.traceparent
           from unnest($2::uuid[], $3::integer[]) as k (id, epoch)
           join delivery d   on d.organization_id = $1 and d.id = k.id and d.lease_epoch = k.epoch
           join submission s on s.organization_id = $1 and s.id = d.submission_id
          where d.state in ('sending', 'uncertain')`,
        [
          organizationId,
          entries.map(({ deliveryId }) => deliveryId),
          entries.map(({ epoch }) => epoch),
        ],
      );
      const noted = new Map(entries.map((entry) => [entry.deliveryId, entry]));
      const results = rows.map((row) => accepted(organizationId, row, noted.get(row.id)!, now));
      if (results.length > 0) await recordResults(tx, organizationId, results, now);
    });
    journal.committed(entries.length);
  }
}

interface UnrecordedRow {
  id: string;
  submission_id: string;
  recipient: string;
  attempts: number;
  lease_epoch: number;
  was_uncertain: boolean;
  conversation_id: string;
  mailbox_id: string;
  mail_from: string;
  raw_sha256: string;
  is_automatic: boolean;
  at_most_once: boolean;
  cancel_if_reply: boolean;
  created_at: string;
  traceparent: string | null;
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
    standing: 'goes',
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
