import { reading, type Noun, type Parts } from './noun';

export const rules: Noun = {
  records: {
    '/api/v1/rules/dry-run': async (parts) =>
      (await parts.client.post('/rules/dry-run', { rule: rule(parts) })).body.id,
  },
  requests: {
    'POST /api/v1/rules': (parts) => ({ body: rule(parts) }),
    'PATCH /api/v1/rules/{id}': { body: { name: 'Renamed', enabled: false } },
    'POST /api/v1/rules/test': (parts) => ({
      body: { rule: rule(parts), message_id: parts.mailbox.conversation.messageIds[0] },
    }),
    'POST /api/v1/rules/dry-run': (parts) => ({ body: { rule: rule(parts) } }),
  },
  audited: {
    'POST /api/v1/rules/test': reading,
    'POST /api/v1/rules/dry-run': reading,
  },
};

function rule({ mailbox: { id, marker }, tenant }: Parts): object {
  const subject = `${marker} ${tenant.unique()}`;
  return {
    name: `${subject} rule`,
    kind: 'labeling',
    mailbox_ids: [id],
    conditions: [{ field: 'subject', operator: 'equals', value: subject }],
    actions: [{ type: 'add_labels', labels: ['lamp'] }],
  };
}
