import type { WebhookDeliveryRecord } from '@dak/contracts/api';
import { rowParameters, tableColumns } from '@dak/platform/postgres';

/** As stored; times are RFC 3339. */
export interface DeliveryRow {
  endpoint_id: string;
  id: string;
  event_id: string;
  event_type: string;
  trigger: WebhookDeliveryRecord['trigger'];
  replay_id: string | null;
  state: WebhookDeliveryRecord['state'];
  attempts: number;
  next_at: string;
  /** The conversation within which an ordered endpoint gets events in order; null = any order. */
  order_key: string | null;
  order_seq: number;
  gap: boolean;
  status_code: number | null;
  error_code: string | null;
  created_at: string;
  first_attempt_at: string | null;
  finished_at: string | null;
}

export const DELIVERY = tableColumns<DeliveryRow>('delivery', {
  endpoint_id: 'fixed',
  id: 'fixed',
  event_id: 'fixed',
  event_type: 'fixed',
  trigger: 'fixed',
  replay_id: 'fixed',
  state: 'changes',
  attempts: 'changes',
  next_at: 'changes',
  order_key: 'fixed',
  order_seq: 'fixed',
  gap: 'changes',
  status_code: 'changes',
  error_code: 'changes',
  created_at: 'fixed',
  first_attempt_at: 'changes',
  finished_at: 'changes',
});

export type NewDelivery = { organization_id: string; state: 'pending' | 'canceled' } & Pick<
  DeliveryRow,
  | 'endpoint_id'
  | 'id'
  | 'event_id'
  | 'event_type'
  | 'trigger'
  | 'replay_id'
  | 'order_key'
  | 'order_seq'
  | 'error_code'
>;

export const NEW_DELIVERIES = rowParameters<NewDelivery>({
  organization_id: 'uuid',
  endpoint_id: 'uuid',
  id: 'uuid',
  event_id: 'text',
  event_type: 'text',
  trigger: 'text',
  replay_id: 'uuid',
  state: 'text',
  order_key: 'text',
  order_seq: 'bigint',
  error_code: 'text',
});
