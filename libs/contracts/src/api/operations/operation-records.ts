import { z } from 'zod';
import { timestamp } from '../record-shapes';

/** State of something that can be held and resumed. */
export const SWITCH_STATES = ['run', 'hold'] as const;

const state = z.enum(SWITCH_STATES);

export const OperationsRecord = z
  .object({
    outgoing: state.meta({ description: 'hold: outgoing mail of all organizations waits' }),
    webhooks: state.meta({ description: 'hold: webhooks of all organizations wait' }),
    updated_at: timestamp,
  })
  .meta({ id: 'Operations' });

export const ChangeOperations = z
  .object({ outgoing: state.optional(), webhooks: state.optional() })
  .meta({ id: 'ChangeOperations' });

export type SwitchState = (typeof SWITCH_STATES)[number];
