import type { MessageRecord, RecipientDelivery } from '@dak/contracts/api';

export type DeliveryState = RecipientDelivery['status'];

const FINAL: ReadonlySet<DeliveryState> = new Set([
  'sent',
  'bounced',
  'failed',
  'suppressed',
  'canceled',
]);

export function isFinal(state: DeliveryState): boolean {
  return FINAL.has(state);
}

/** 0 goes first. People wait for their mail; programs do not. */
export const PRIORITIES = { person: 0, program: 1, automatic: 2 } as const;

/**
 * A message's state from its deliveries: unfinished ones before finished ones, failures before
 * success.
 */
export function summarizeStates(states: readonly DeliveryState[]): DeliveryState {
  const order: readonly DeliveryState[] = [
    'sending',
    'uncertain',
    'deferred',
    'queued',
    'held',
    'scheduled',
    'failed',
    'bounced',
    'sent',
    'suppressed',
    'canceled',
  ];
  return order.find((state) => states.includes(state)) ?? 'queued';
}

/** The status that the message shows; a hold is nothing a reader needs to know. */
export function messageStatusOf(state: DeliveryState): MessageRecord['status'] {
  return state === 'held' ? 'queued' : state;
}

export interface DeliveryRow {
  submission_id: string;
  role: 'to' | 'cc' | 'bcc';
  recipient: string;
  state: DeliveryState;
  attempts: number;
  next_attempt_at: string | null;
  smtp_code: number | null;
  diagnostic: string | null;
  updated_at: string;
}

export function summarizeDeliveries(
  rows: readonly DeliveryRow[],
): NonNullable<MessageRecord['delivery']> {
  const pending = rows.flatMap((row) =>
    row.next_attempt_at === null || isFinal(row.state) ? [] : [row.next_attempt_at],
  );
  return {
    recipients: rows.map((row) => ({
      email: row.recipient,
      status: row.state,
      smtp_code: row.smtp_code,
      diagnostic: row.diagnostic,
      at: row.attempts === 0 && !isFinal(row.state) ? null : row.updated_at,
    })),
    attempts: Math.max(0, ...rows.map((row) => row.attempts)),
    next_attempt_at: pending.sort()[0] ?? null,
  };
}
