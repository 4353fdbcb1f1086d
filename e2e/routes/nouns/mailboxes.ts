import { idOf, noted, type Noun, type Parts } from './noun';

export const mailboxes: Noun = {
  records: {
    '/api/v1/mailboxes': ({ mailbox }) => mailbox.id,
    '/api/v1/imports': async ({ stack, tenant, mailbox }) => {
      const client = stack.client(tenant.key);
      const reply = client.call(
        'POST',
        `/mailboxes/${mailbox.id}/imports`,
        oneMail(tenant.unique()),
      );
      return (await reply).body.id;
    },
  },
  requests: {
    'POST /api/v1/mailboxes': ({ tenant }) => ({
      body: {
        address: `${tenant.unique()}@${tenant.domain}`,
        display_name: tenant.unique(),
        assigned_user_ids: [tenant.member.id],
        department_ids: [tenant.departmentId],
      },
    }),
    'PATCH /api/v1/mailboxes/{id}': { body: { display_name: 'Renamed', agent_mode: 'off' } },
    'DELETE /api/v1/mailboxes/{id}': async (parts) => ({ params: { id: await another(parts) } }),
    'POST /api/v1/mailboxes/{id}/restore': async (parts) => {
      const id = await another(parts);
      await parts.client.delete(`/mailboxes/${id}`);
      return { params: { id } };
    },
    'PUT /api/v1/mailboxes/{id}/assignments': async ({ mailbox, client }) => ({
      body: (await client.get(`/mailboxes/${mailbox.id}/assignments`)).body,
    }),
    'POST /api/v1/mailboxes/{id}/imports': ({ tenant }) => oneMail(tenant.unique()),
  },
  audited: {
    'POST /api/v1/mailboxes/{id}/restore': noted('mailbox.restored'),
    'PUT /api/v1/mailboxes/{id}/assignments': noted('mailbox.assigned'),
    'POST /api/v1/mailboxes/{id}/imports': noted('import.started'),
  },
};

/** One that nothing else uses. */
function another({ tenant, client }: Parts): Promise<string> {
  return idOf(client.post('/mailboxes', { address: `${tenant.unique()}@${tenant.domain}` }));
}

function oneMail(marker: string): { body: Buffer; headers: Record<string, string> } {
  const text = `From: x@elsewhere.example\r\nSubject: ${marker}\r\nMessage-ID: <${marker}@elsewhere.example>\r\n\r\n${marker}\r\n`;
  return { body: Buffer.from(text), headers: { 'Content-Type': 'message/rfc822' } };
}
