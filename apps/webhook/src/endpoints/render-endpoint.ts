import type { WebhookRecord } from '@dak/contracts/api';
import type { StoredEndpoint } from './endpoint-store';

export function renderEndpoint(row: StoredEndpoint): WebhookRecord {
  return {
    id: row.id,
    owner_user_id: row.owner_user_id,
    url: row.url,
    description: row.description,
    event_types: [...row.event_types],
    mailbox_ids: [...row.mailbox_ids],
    ordering: row.ordering,
    header_names: [...row.header_names],
    enabled: row.enabled,
    status: row.status,
    disabled_reason: row.disabled_reason,
    disabled_at: row.disabled_at,
    own_secret: row.own_secret,
    rate_per_second: row.rate_per_second,
    max_concurrency: row.max_concurrency,
    timeout_ms: row.timeout_ms,
    breaker: {
      state: row.breaker_state,
      opened_at: row.breaker_opened_at,
      next_probe_at: row.next_probe_at,
    },
    last_success_at: row.last_success_at,
    first_failure_at: row.first_failure_at,
    version: row.version,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}
