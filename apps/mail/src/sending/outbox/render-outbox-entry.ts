import type { OutboxEntryRecord } from '@dak/contracts/api';
import {
  type DeliveryRow,
  messageStatusOf,
  summarizeDeliveries,
} from '../../conversations/messages/delivery-state';
import type { OutboxRow } from './outbox-store';

export function renderOutboxEntry(
  row: OutboxRow,
  deliveries: readonly DeliveryRow[],
): OutboxEntryRecord {
  const { recipients, attempts, next_attempt_at } = summarizeDeliveries(deliveries);
  return {
    id: row.id,
    conversation_id: row.current_conversation_id,
    mailbox_id: row.mailbox_id,
    subject: row.subject,
    status: messageStatusOf(row.status),
    hold: holdOf(row),
    send_at: row.send_at,
    undo_until: row.undo_until,
    recipients,
    attempts,
    // It is unknown when held mail continues.
    next_attempt_at: row.stopped_by === null ? next_attempt_at : null,
    author: {
      type: row.author_type as OutboxEntryRecord['author']['type'],
      id: row.author_id,
      name: row.author_name,
      run_id: row.author_run_id,
    },
    template:
      row.template_id === null || row.template_version === null
        ? null
        : { id: row.template_id, version: row.template_version },
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

function holdOf(row: OutboxRow): OutboxEntryRecord['hold'] {
  if (row.stopped_by !== null) return { reason: row.stopped_by, until: null };
  return row.hold_reason === null ? null : { reason: row.hold_reason, until: row.hold_until };
}
