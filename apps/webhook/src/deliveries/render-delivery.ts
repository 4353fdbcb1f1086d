import type { WebhookDeliveryRecord } from '@dak/contracts/api';
import type { DeliveryRow } from '../fan-out/delivery-row';

export function renderDelivery(row: DeliveryRow): WebhookDeliveryRecord {
  return {
    id: row.id,
    webhook_id: row.endpoint_id,
    event_id: row.event_id,
    event_type: row.event_type,
    trigger: row.trigger,
    replay_id: row.replay_id,
    state: row.state,
    attempts: row.attempts,
    next_attempt_at: row.state === 'pending' ? row.next_at : null,
    gap: row.gap,
    status_code: row.status_code,
    error_code: row.error_code,
    created_at: row.created_at,
    first_attempt_at: row.first_attempt_at,
    finished_at: row.finished_at,
  };
}
