import { MAILBOX_LIMITS, type MailboxRecord } from '@dak/contracts/api';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { MailboxRow } from './mailbox-row';
import { settingsOf } from './mailbox';
import { selectMailboxDetails, type MailboxDetails } from './mailbox-store';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The public records of these mailboxes, in order. */
export async function mailboxRecords(
  tx: SqlExecutor,
  organizationId: string,
  rows: readonly MailboxRow[],
  now: number,
): Promise<MailboxRecord[]> {
  const today = now - (now % DAY);
  const details = await selectMailboxDetails(
    tx,
    organizationId,
    rows.map((row) => row.id),
    smallestUuidv7(now - HOUR),
    smallestUuidv7(today),
  );
  return rows.map((row) => toRecord(row, details.get(row.id)!, today + DAY));
}

function toRecord(row: MailboxRow, details: MailboxDetails, resetsAt: number): MailboxRecord {
  const counts = details.counts ?? {};
  return {
    id: row.id,
    address: row.address,
    display_name: row.display_name,
    kind: row.kind,
    status: row.deleted_at === null ? row.status : 'deleting',
    // A hosted mailbox needs no connection: mail comes to us.
    connection: {
      state: row.kind === 'hosted' ? 'connected' : 'not_connected',
      last_sync_at: null,
      last_error: null,
      retry_at: null,
    },
    sync: null,
    domain_id: row.domain_id,
    department_ids: details.department_ids,
    assigned_user_ids: details.assigned_user_ids,
    default_signature_id: row.default_signature_id,
    policy_id: row.policy_id,
    agent_mode: row.agent_mode,
    settings: settingsOf(row),
    limits: MAILBOX_LIMITS,
    usage: {
      sends_last_hour: details.sends_last_hour,
      sends_today: details.sends_today,
      storage_bytes: details.storage_bytes ?? 0,
      resets_at: new Date(resetsAt).toISOString(),
    },
    counts: {
      open: counts['open'] ?? 0,
      pending: counts['pending'] ?? 0,
      waiting: counts['waiting'] ?? 0,
      snoozed: counts['snoozed'] ?? 0,
      unread: details.unread ?? 0,
      drafts: details.drafts,
      awaiting_approval: details.awaiting_approval,
    },
    metadata: row.metadata,
    client_id: row.client_id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    deleted_at: row.deleted_at,
    version: row.version,
  };
}

function smallestUuidv7(milliseconds: number): string {
  const time = milliseconds.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}
