import { activity, draft, idOf, inHours, reading, type Noun, type Parts } from './noun';

/** Mail on its way out: sent, kept as a draft, or scheduled; and what stands under it. */
export const composed: Noun = {
  records: {
    '/api/v1/outbox': (parts) =>
      idOf(parts.client.post('/compose/send', { ...mail(parts), send_at: inHours(24) })),
  },
  requests: {
    'POST /api/v1/compose/send': (parts) => ({ body: mail(parts) }),
    'POST /api/v1/compose/preview': (parts) => ({ body: mail(parts) }),
    'GET /api/v1/drafts': inMailbox,
    'POST /api/v1/drafts': (parts) => ({ body: mail(parts) }),
    'PATCH /api/v1/drafts/{id}': { body: { subject: 'Another subject' } },
    'GET /api/v1/outbox': inMailbox,
    'PATCH /api/v1/outbox/{id}': () => ({ body: { send_at: inHours(72) } }),
    'POST /api/v1/signatures': ({ mailbox: { id, marker } }) => ({
      body: { name: `${marker} signature`, body_text: `${marker} regards`, mailbox_id: id },
    }),
  },
  audited: {
    'POST /api/v1/compose/send': activity,
    'POST /api/v1/compose/preview': reading,
    'POST /api/v1/drafts': draft,
    'PATCH /api/v1/drafts/{id}': draft,
    'DELETE /api/v1/drafts/{id}': draft,
    'POST /api/v1/drafts/{id}/send': activity,
    'PATCH /api/v1/outbox/{id}': activity,
    'DELETE /api/v1/outbox/{id}': activity,
  },
};

function inMailbox({ mailbox }: Parts) {
  return { query: { mailbox: mailbox.id } };
}

function mail({ mailbox, tenant }: Parts): object {
  return {
    mailbox_id: mailbox.id,
    to: [`Somebody <somebody@${mailbox.marker}.example>`],
    cc: [],
    bcc: [],
    subject: `${mailbox.marker} ${tenant.unique()}`,
    body_text: `${mailbox.marker} text`,
    body_html: `<p>${mailbox.marker} text</p>`,
    attachment_tokens: [],
    encrypt: false,
  };
}
