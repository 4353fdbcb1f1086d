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
 * What a message shows for its deliveries: what is still open before what is done, trouble before
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
