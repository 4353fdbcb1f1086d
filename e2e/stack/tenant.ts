import { SCOPES, type Scope } from '@dak/kernel';
import type { ApiClient } from '@dak/testing/api-client';
import { eventually } from '@dak/testing/waiting';
import { openSession, transact } from './sending-mail';
import type { Stack } from './stack';

const PASSWORD = 'a long enough password';

/** A conversation of two messages that came in; the first has a file. */
export interface StoredConversation {
  id: string;
  messageIds: [first: string, second: string];
  attachmentId: string;
}

export interface TenantMailbox {
  id: string;
  address: string;
  /** In whatever is written in this mailbox, and nowhere else. */
  marker: string;
  conversation: StoredConversation;
  /** One that nothing else uses. */
  takeConversation(): StoredConversation;
}

/** An organization with people, keys and mail; every text in it carries its marker. */
export interface Tenant {
  marker: string;
  organizationId: string;
  admin: Person;
  /** Assigned to the mailbox `open`, not to `closed`; in the department. */
  member: Person;
  departmentId: string;
  /** All scopes, made by the admin. */
  key: string;
  keyId: string;
  /** Made by somebody who was an admin and is a plain user by now, who sees what the member sees. */
  restrictedKey: string;
  open: TenantMailbox;
  closed: TenantMailbox;
  /** As the admin, with all scopes. */
  client: ApiClient;
  memberClient: ApiClient;
  /** Its own; granted. */
  domain: string;
  /** A text with the marker that nothing else has. */
  unique(): string;
}

export interface Person {
  id: string;
  email: string;
  password: string;
  session: string;
}

/** @param stock how many conversations `takeConversation` has to give, per mailbox */
export async function createTenant(stack: Stack, marker: string, stock = 1): Promise<Tenant> {
  let count = 0;
  const unique = () => `${marker}-${(count += 1)}`;
  const platform = stack.client(await superadminSession(stack));
  const made = await platform.post('/admin/organizations', {
    name: `${marker}-works`,
    admin: {
      email: `admin@${marker}.example`,
      display_name: `${marker} Admin`,
      password: PASSWORD,
    },
    domains: [tenantDomain(marker)],
  });
  const admin = await signIn(stack, made.body.admin);
  const asAdmin = stack.client(admin.session);
  const department = await asAdmin.post('/departments', { name: `${marker} Service` });
  const departmentId: string = department.body.id;
  const member = await addPerson(stack, asAdmin, {
    email: `member@${marker}.example`,
    display_name: `${marker} Member`,
    department_ids: [departmentId],
  });
  const { key, id: keyId } = await createKey(asAdmin, `${marker} all`, SCOPES);
  const client = stack.client(key);
  const formerAdmin = await addPerson(stack, asAdmin, {
    email: `former@${marker}.example`,
    display_name: `${marker} Former Admin`,
    role: 'admin',
  });
  const restricted = await createKey(stack.client(formerAdmin.session), `${marker} former`, SCOPES);
  await asAdmin.patch(`/settings/users/${formerAdmin.id}`, { role: 'user' });
  const [open, closed] = [
    await createMailbox(client, `${marker}-open`, tenantDomain(marker), stock),
    await createMailbox(client, `${marker}-closed`, tenantDomain(marker), stock),
  ];
  await client.put(`/mailboxes/${open.id}/assignments`, {
    users: [member.id, formerAdmin.id].map((id) => ({ user_id: id, access: 'send' })),
    department_ids: [],
  });
  await fill(stack, client, [open, closed], stock + 1);
  return {
    marker,
    organizationId: made.body.id,
    admin,
    member,
    departmentId,
    key,
    keyId,
    restrictedKey: restricted.key,
    open,
    closed,
    client,
    memberClient: stack.client(member.session),
    domain: tenantDomain(marker),
    unique,
  };
}

/** What a tenant owns. */
function tenantDomain(marker: string): string {
  return `${marker}-desk.example`;
}

export async function superadminSession(stack: Stack): Promise<string> {
  const { session } = await signIn(stack, stack.seed.superadmin, stack.seed.superadmin.password);
  return session;
}

export async function signIn(
  stack: Stack,
  person: { id: string; email: string },
  password = PASSWORD,
): Promise<Person> {
  const { body } = await stack.client().post('/auth/login', { email: person.email, password });
  return { id: person.id, email: person.email, password, session: body.access_token };
}

export async function createKey(
  client: ApiClient,
  name: string,
  scopes: readonly Scope[],
  expiresAt?: string,
): Promise<{ key: string; id: string }> {
  const { body } = await client.post('/settings/api-keys', {
    name,
    scopes,
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
  });
  return body;
}

async function addPerson(stack: Stack, asAdmin: ApiClient, fields: object): Promise<Person> {
  const { body } = await asAdmin.post('/settings/users', { password: PASSWORD, ...fields });
  return signIn(stack, body);
}

async function createMailbox(
  client: ApiClient,
  marker: string,
  domain: string,
  stock: number,
): Promise<TenantMailbox & { conversations: StoredConversation[] }> {
  const { body } = await client.post('/mailboxes', {
    address: `${marker}@${domain}`,
    display_name: `${marker} Desk`,
    metadata: { note: marker },
  });
  const conversations: StoredConversation[] = [];
  let taken = 0;
  return {
    id: body.id,
    address: body.address,
    marker,
    conversations,
    get conversation() {
      return conversations[0]!;
    },
    takeConversation: () => {
      taken += 1;
      if (taken > stock) throw new Error(`${marker} has only ${stock} conversations to take`);
      return conversations[taken]!;
    },
  };
}

/** Everything over SMTP, as real mail comes. */
async function fill(
  stack: Stack,
  client: ApiClient,
  mailboxes: readonly (TenantMailbox & { conversations: StoredConversation[] })[],
  count: number,
): Promise<void> {
  const dialog = await openSession(stack.smtpPort);
  for (const { address, marker } of mailboxes) {
    for (let i = 0; i < count; i += 1) {
      for (const raw of [firstMail(marker, address, i), secondMail(marker, address, i)]) {
        const reply = await transact(dialog, { to: [address], raw });
        if (!reply.startsWith('250')) throw new Error(`mail for ${address} got ${reply}`);
      }
    }
  }
  dialog.socket.destroy();
  for (const { id, conversations } of mailboxes) {
    const listed = await eventually(`${count} conversations of two messages`, async () => {
      const { body } = await client.get(`/conversations?mailbox=${id}&per_page=100`);
      const rows = body.data as { id: string; message_count: number }[];
      return rows.length === count && rows.every((row) => row.message_count === 2) && rows;
    });
    for (const row of listed) {
      const { body } = await client.get(`/conversations/${row.id}/messages`);
      const [first, second] = body.data;
      conversations.push({
        id: row.id,
        messageIds: [first.id, second.id],
        attachmentId: first.attachments[0].id,
      });
    }
  }
}

function firstMail(marker: string, address: string, index: number): string {
  return [
    `From: "${marker} Customer" <customer@${marker}.example>`,
    `To: ${address}`,
    `Subject: ${marker} subject ${index}`,
    `Message-ID: <first-${index}@${marker}.example>`,
    'Date: Mon, 02 Nov 2026 10:00:00 +0000',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    `${marker} body, with the word lamp.`,
    '--b',
    'Content-Type: text/plain',
    `Content-Disposition: attachment; filename="${marker}.txt"`,
    '',
    `${marker} file`,
    '--b--',
    '',
  ].join('\r\n');
}

function secondMail(marker: string, address: string, index: number): string {
  return [
    `From: "${marker} Customer" <customer@${marker}.example>`,
    `To: ${address}`,
    `Subject: Re: ${marker} subject ${index}`,
    `Message-ID: <second-${index}@${marker}.example>`,
    `In-Reply-To: <first-${index}@${marker}.example>`,
    'Date: Mon, 02 Nov 2026 11:00:00 +0000',
    '',
    `${marker} answer`,
    '',
  ].join('\r\n');
}
