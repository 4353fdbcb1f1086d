import { noted, reading, type Noun } from './noun';

const WEBHOOK = '/api/v1/webhooks/{id}';
const REPLAY = { since: '2026-01-01T00:00:00Z', types: ['domain.verified'], only_failed: true };

export const webhooks: Noun = {
  records: {
    [`${WEBHOOK}/deliveries`]: async ({ client }, { id }) =>
      (await client.post(`/webhooks/${id}/test`, {})).body.id,
    [`${WEBHOOK}/replays`]: async ({ client }, { id }) =>
      (await client.post(`/webhooks/${id}/replay`, REPLAY)).body.id,
  },
  requests: {
    // Nobody listens at the port, and nothing of the kind happens.
    'POST /api/v1/webhooks': ({ mailbox: { id, marker } }) => ({
      body: {
        url: `http://127.0.0.1:9/${marker}`,
        description: `${marker} webhook`,
        event_types: ['domain.verified'],
        mailbox_ids: [id],
        headers: { 'X-Token': `${marker}-token` },
      },
    }),
    [`PATCH ${WEBHOOK}`]: { body: { description: 'Renamed', ordering: 'conversation' } },
    [`POST ${WEBHOOK}/rotate-secret`]: { body: { overlap_hours: 1 } },
    [`POST ${WEBHOOK}/test`]: { body: { event_type: 'mail.sent' } },
    [`POST ${WEBHOOK}/replay`]: { body: REPLAY },
    'PUT /api/v1/settings/webhook-secret': { body: { overlap_hours: 2 } },
  },
  audited: {
    [`POST ${WEBHOOK}/rotate-secret`]: noted('webhook.secret_rotated'),
    [`POST ${WEBHOOK}/test`]: reading,
    [`POST ${WEBHOOK}/deliveries/{did}/retry`]: noted('webhook.delivery_retried'),
    [`POST ${WEBHOOK}/replay`]: noted('webhook.replay_started'),
    'PUT /api/v1/settings/webhook-secret': noted('webhook_secret.replaced'),
  },
};
