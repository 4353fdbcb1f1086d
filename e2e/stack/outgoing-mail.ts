import { SCOPES } from '@dak/kernel';
import type { ApiClient } from '@dak/testing/api-client';
import { eventually } from '@dak/testing/waiting';
import type { Stack } from './stack';
import { createKey, signIn, superadminSession } from './tenant';

/** An organization that sends mail from one mailbox. */
export interface Sender {
  organizationId: string;
  mailboxId: string;
  /** With all scopes. */
  client: ApiClient;
  /** Accepts a mail; the id of its outbox entry. */
  send(to: string, fields?: object): Promise<string>;
}

/** Of an outbox entry, as the API shows it. */
export interface OutboxEntry {
  status: string;
  hold: { reason: string; until: string | null } | null;
  recipients: { email: string; status: string }[];
}

export async function createSender(stack: Stack, name: string): Promise<Sender> {
  const platform = stack.client(await superadminSession(stack));
  const made = await platform.post('/admin/organizations', {
    name,
    domains: [`${name}.example`],
    admin: {
      email: `admin@${name}.example`,
      display_name: 'Admin',
      password: 'a long enough password',
    },
  });
  const { session } = await signIn(stack, made.body.admin);
  const { key } = await createKey(stack.client(session), 'all', SCOPES);
  const client = stack.client(key);
  const mailbox = await eventually('no mailbox could be made', async () => {
    const { status, body } = await client.post('/mailboxes', { address: `team@${name}.example` });
    return status === 201 && (body as { id: string });
  });
  return {
    organizationId: made.body.id,
    mailboxId: mailbox.id,
    client,
    async send(to, fields = {}) {
      const { status, body } = await client.post('/compose/send', {
        mailbox_id: mailbox.id,
        to: [to],
        subject: 'News',
        body_text: 'Hello',
        undo_seconds: 0,
        ...fields,
      });
      if (status !== 201) throw new Error(`not accepted: ${status} ${JSON.stringify(body)}`);
      return body.id as string;
    },
  };
}

/** What the outbox shows once it is as awaited. */
export function outboxEntry(
  { client }: Sender,
  id: string,
  isDone: (entry: OutboxEntry) => boolean,
  ms?: number,
): Promise<OutboxEntry> {
  let last: OutboxEntry | null = null;
  return eventually(
    () => `${id} is ${JSON.stringify(last)}`,
    async () => {
      last = (await client.get(`/outbox/${id}`)).body as OutboxEntry;
      return isDone(last) && last;
    },
    ms,
  );
}
