import { join } from 'node:path';
import { EventEnvelope } from '@dak/contracts/events';
import { SCOPES, uuidv7, type Principal } from '@dak/kernel';
import { Database } from '@dak/platform/postgres';
import type { CallContext, IdempotencyKey } from '@dak/platform/grpc';
import { createTestDatabase } from '@dak/testing/database';
import { allocateConversationNumbers } from '../src/conversations/conversation-store';
import type { NewMessage } from '../src/conversations/messages/new-message';
import { grantedDomain } from '../src/domains/domain';
import { domainOf } from '../src/domains/domain-name';
import { insertFreeDomains } from '../src/domains/domain-store';

export const MIGRATIONS_FOLDER = join(__dirname, '../prisma/migrations');

export interface MailDatabase {
  database: Database;
  adminUrl: string;
  close(): Promise<void>;
}

/** A private mail database under its runtime role. */
export async function openMailDatabase(maxConnections = 4): Promise<MailDatabase> {
  const test = await createTestDatabase({ name: 'mail', migrationsFolder: MIGRATIONS_FOLDER });
  const database = new Database({ url: test.url, applicationName: 'mail-test', maxConnections });
  return {
    database,
    adminUrl: test.adminUrl,
    close: async () => {
      await database.close();
      await test.drop();
    },
  };
}

/** What was committed to the outbox, in its order; only a worker reads it. */
export async function outboxEvents(
  database: Database,
  organizationId?: string,
): Promise<EventEnvelope[]> {
  const { rows } = await database.asWorker((tx) =>
    tx.query<{ payload: Buffer }>('select payload from outbox order by seq'),
  );
  const events = rows.map(({ payload }) => EventEnvelope.decode(payload));
  return organizationId === undefined
    ? events
    : events.filter((event) => event.organizationId === organizationId);
}

export function principal(overrides: Partial<Principal> = {}): Principal {
  return {
    type: 'session',
    organizationId: uuidv7(),
    userId: uuidv7(),
    userName: 'Asha Rao',
    role: 'admin',
    scopes: SCOPES,
    credentialId: uuidv7(),
    departmentIds: [],
    ...overrides,
  };
}

export function contextOf(
  caller: Principal,
  idempotency: IdempotencyKey | null = null,
): CallContext {
  return {
    principal: caller,
    requestId: 'test',
    deadline: Date.now() + 30_000,
    signal: new AbortController().signal,
    idempotency,
    traceparent: null,
  };
}

let addresses = 0;

/** As a superadmin's grant makes it. */
export async function ownDomain(
  database: Database,
  organizationId: string,
  name: string,
): Promise<void> {
  await database.inTenant(organizationId, (tx) =>
    insertFreeDomains(tx, organizationId, [grantedDomain(name, Date.now())]),
  );
}

export async function insertMailbox(
  database: Database,
  organizationId: string,
  address = `box${(addresses += 1)}@${organizationId}.example`,
): Promise<{ id: string; address: string }> {
  const id = uuidv7();
  await ownDomain(database, organizationId, domainOf(address));
  await database.inTenant(organizationId, (tx) =>
    tx.query(
      `insert into mailbox (organization_id, id, address, settings, created_at, updated_at)
       values ($1, $2, $3, '{}', now(), now())`,
      [organizationId, id, address],
    ),
  );
  return { id, address };
}

/** A human inbound message that opens a conversation; everything can be overridden. */
export function newMessage(mailboxId: string, overrides: Partial<NewMessage> = {}): NewMessage {
  const at = overrides.sortAt ?? new Date().toISOString();
  const subject = overrides.subject ?? 'Order 66';
  return {
    id: uuidv7(),
    mailboxId,
    conversation: { kind: 'new', id: uuidv7(), number: 0 },
    direction: 'inbound',
    status: 'received',
    kind: 'human',
    from: { email: 'meera@customer.example', name: 'Meera' },
    to: [],
    cc: [],
    bcc: [],
    replyTo: [],
    subject,
    baseSubject: subject.toLowerCase(),
    bodyText: 'Where is my order?',
    bodyHtml: null,
    textNew: 'Where is my order?',
    htmlNew: null,
    extraction: null,
    preview: 'Where is my order?',
    messageIdHeader: null,
    inReplyTo: null,
    references: [],
    authentication: null,
    flags: {},
    safety: null,
    author: { type: 'external', id: null, name: 'Meera', runId: null },
    mentions: [],
    unread: true,
    labels: [],
    rawSha256: null,
    sizeBytes: 1000,
    dedupeKey: null,
    sortAt: at,
    sendAt: null,
    sentAt: null,
    receivedAt: at,
    attachments: [],
    imported: false,
    ...overrides,
  };
}

/** Description of a new conversation with a number of its own. */
export async function newConversationIn(
  database: Database,
  organizationId: string,
): Promise<Extract<NewMessage['conversation'], { kind: 'new' }>> {
  const [number] = await allocateConversationNumbers(database, organizationId, 1);
  return { kind: 'new', id: uuidv7(), number: number! };
}
