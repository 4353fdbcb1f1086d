import type { WebhookAttemptRecord } from '@dak/contracts/api';
import { tableColumns } from '@dak/platform/postgres';

/** As stored, except for its keys; times are RFC 3339. */
export interface AttemptRow {
  number: number;
  at: string;
  duration_ms: number;
  outcome: WebhookAttemptRecord['outcome'];
  status_code: number | null;
  error_code: string | null;
  detail: string | null;
  response_start: string | null;
}

export const ATTEMPT = tableColumns<AttemptRow>('attempt', {
  number: 'fixed',
  at: 'fixed',
  duration_ms: 'fixed',
  outcome: 'fixed',
  status_code: 'fixed',
  error_code: 'fixed',
  detail: 'fixed',
  response_start: 'fixed',
});
