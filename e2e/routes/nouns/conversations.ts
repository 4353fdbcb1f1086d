import { activity, inHours, noted, type Noun } from './noun';

const CONVERSATION = '/api/v1/conversations/{id}';

export const conversations: Noun = {
  records: {
    '/api/v1/conversations': ({ mailbox }) => mailbox.conversation.id,
    [`${CONVERSATION}/messages`]: ({ mailbox }) => mailbox.conversation.messageIds[0],
    [`${CONVERSATION}/messages/{mid}/attachments`]: ({ mailbox }) =>
      mailbox.conversation.attachmentId,
  },
  requests: {
    'GET /api/v1/conversations': ({ mailbox, tenant }) => ({
      query: { mailbox: mailbox.id, status: 'all', per_page: '10', q: tenant.marker },
    }),
    [`PATCH ${CONVERSATION}`]: { body: { priority: 'high', metadata: { seen: true } } },
    [`POST ${CONVERSATION}/labels`]: { body: { add: ['lamp'], remove: ['chair'] } },
    [`POST ${CONVERSATION}/snooze`]: ({ mailbox }) => ({
      params: { id: mailbox.takeConversation().id },
      body: { until: inHours(48), wake_on_reply: true },
    }),
    [`DELETE ${CONVERSATION}/snooze`]: async ({ mailbox, client }) => {
      const { id } = mailbox.takeConversation();
      await client.post(`/conversations/${id}/snooze`, {});
      return { params: { id } };
    },
    [`POST ${CONVERSATION}/assign`]: ({ mailbox, tenant }) => ({
      params: { id: mailbox.takeConversation().id },
      body: { assignee: { type: 'user', id: tenant.admin.id }, note: `${mailbox.marker} note` },
    }),
    [`POST ${CONVERSATION}/merge`]: ({ mailbox }) => ({
      params: { id: mailbox.takeConversation().id },
      body: { source_ids: [mailbox.takeConversation().id] },
    }),
    [`POST ${CONVERSATION}/split`]: ({ mailbox }) => {
      const { id, messageIds } = mailbox.takeConversation();
      return { params: { id }, body: { message_ids: [messageIds[1]] } };
    },
    'POST /api/v1/conversations/bulk': ({ mailbox }) => ({
      body: { ids: [mailbox.conversation.id], action: 'labels', add: ['bulk'] },
    }),
    [`GET ${CONVERSATION}/messages/{mid}`]: { query: { include: 'headers', raw_html: 'true' } },
    [`POST ${CONVERSATION}/notes`]: ({ mailbox, tenant }) => ({
      body: { body_text: `${mailbox.marker} note`, mentions: [tenant.member.id] },
    }),
    [`POST ${CONVERSATION}/reply`]: {
      body: { body_text: 'Have you tried another bulb?', cc: [], bcc: [], attachment_tokens: [] },
    },
    [`POST ${CONVERSATION}/forward`]: ({ mailbox }) => ({
      body: {
        message_id: mailbox.conversation.messageIds[0],
        to: ['expert@elsewhere.example'],
        body_text: 'Please look.',
      },
    }),
  },
  audited: {
    [`PATCH ${CONVERSATION}`]: activity,
    [`POST ${CONVERSATION}/labels`]: activity,
    [`POST ${CONVERSATION}/snooze`]: activity,
    [`DELETE ${CONVERSATION}/snooze`]: activity,
    [`POST ${CONVERSATION}/assign`]: activity,
    [`POST ${CONVERSATION}/merge`]: activity,
    [`POST ${CONVERSATION}/split`]: activity,
    [`POST ${CONVERSATION}/notes`]: activity,
    [`POST ${CONVERSATION}/reply`]: activity,
    [`POST ${CONVERSATION}/forward`]: activity,
    'POST /api/v1/conversations/bulk': activity,
    [`GET ${CONVERSATION}/messages/{mid}/raw`]: noted('message.raw_read'),
  },
};
