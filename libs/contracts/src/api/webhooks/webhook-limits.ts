import { MAX_EVENT_BYTES } from '../../events/event-body';

/** As `/capabilities` names them. */
export const WEBHOOK_LIMITS = {
  webhooks_per_organization: 50,
  webhook_body_bytes: MAX_EVENT_BYTES,
} as const;
