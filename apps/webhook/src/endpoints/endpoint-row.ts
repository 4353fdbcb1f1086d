import type { WebhookRecord } from '@dak/contracts/api';
import { tableColumns } from '@dak/platform/postgres';

/** Health of an endpoint as stored, learned from attempts. */
export interface HealthRow {
  breaker_state: WebhookRecord['breaker']['state'];
  breaker_opened_at: string | null;
  next_probe_at: string | null;
  breaker_trips: number;
  last_success_at: string | null;
  first_failure_at: string | null;
  first_failed_event_id: string | null;
  last_failure_at: string | null;
  last_failed_event_id: string | null;
}

/** As stored; times are RFC 3339. */
export interface EndpointRow extends HealthRow {
  id: string;
  owner_user_id: string;
  url: string;
  description: string;
  event_types: readonly string[];
  mailbox_ids: readonly string[];
  ordering: WebhookRecord['ordering'];
  header_names: readonly string[];
  sealed_headers: Buffer | null;
  enabled: boolean;
  status: WebhookRecord['status'];
  disabled_reason: WebhookRecord['disabled_reason'];
  disabled_at: string | null;
  /** Keys that made or changed the endpoint; it stops with each of them. null = none. */
  key_ids: readonly string[] | null;
  /** Scopes that all of these keys have; null = all of the owner's. */
  maker_scopes: readonly string[] | null;
  rate_per_second: number | null;
  max_concurrency: number | null;
  timeout_ms: number | null;
  version: number;
  created_at: string;
  updated_at: string;
}

export const ENDPOINT = tableColumns<EndpointRow>('endpoint', {
  id: 'fixed',
  owner_user_id: 'fixed',
  url: 'changes',
  description: 'changes',
  event_types: 'changes',
  mailbox_ids: 'changes',
  ordering: 'changes',
  header_names: 'changes',
  sealed_headers: 'changes',
  enabled: 'changes',
  status: 'changes',
  disabled_reason: 'changes',
  disabled_at: 'changes',
  key_ids: 'changes',
  maker_scopes: 'changes',
  rate_per_second: 'changes',
  max_concurrency: 'changes',
  timeout_ms: 'changes',
  breaker_state: 'changes',
  breaker_opened_at: 'changes',
  next_probe_at: 'changes',
  breaker_trips: 'changes',
  last_success_at: 'changes',
  first_failure_at: 'changes',
  first_failed_event_id: 'changes',
  last_failure_at: 'changes',
  last_failed_event_id: 'changes',
  version: 'changes',
  created_at: 'fixed',
  updated_at: 'changes',
});

/** Columns that a request sets. */
export type EndpointColumns = Pick<
  EndpointRow,
  | 'url'
  | 'description'
  | 'event_types'
  | 'mailbox_ids'
  | 'ordering'
  | 'header_names'
  | 'sealed_headers'
  | 'enabled'
  | 'rate_per_second'
  | 'max_concurrency'
  | 'timeout_ms'
  | 'key_ids'
  | 'maker_scopes'
>;

/** An endpoint without failures. */
export const CLEAN_HEALTH: Omit<HealthRow, 'last_success_at'> = {
  breaker_state: 'closed',
  breaker_opened_at: null,
  next_probe_at: null,
  breaker_trips: 0,
  first_failure_at: null,
  first_failed_event_id: null,
  last_failure_at: null,
  last_failed_event_id: null,
};
