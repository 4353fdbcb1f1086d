import { uuidv7 } from '@dak/kernel';
import { eventually } from '@dak/testing/waiting';
import { createInboundPipeline } from '../src/receiving/pipeline/inbound-pipeline';
import { readMessage } from '../src/receiving/reading/read-message';
import { spoolEntry } from '../src/spool/spool-entry';
import { openInbound, rawMessage, storedMessages, type InboundParts } from './inbound-fixtures';
import { insertMailbox, openMailDatabase, outboxEvents, type MailDatabase } from './mail-fixtures';

let mail: MailDatabase;
let inbound: InboundParts;

beforeAll(async () => {
  mail = await openMailDatabase();
  inbound = await openInbound(mail.database);
});
afterAll(async () => {
  await inbound.close();
  await mail.close();
});

async function newMailbox() {
  const organizationId = uuidv7();
  const { id, address } = await insertMailbox(mail.database, organizationId);
  return { organizationId, mailboxId: id, address };
}

async function spoolSize(organizationId: string): Promise<number> {
  const { rows } = await mail.database.inTenant(organizationId, (tx) =>
    tx.query<{ count: number }>('select count(*) as count from inbound_spool'),
  );
  return rows[0]!.count;
}

async function outboxKinds(organizationId: string): Promise<string[]> {
  return (await outboxEvents(mail.database, organizationId)).map(({ type }) => type);
}

test('a spooled message becomes a stored one with its raw bytes, and leaves the spool', async () => {
  const box = await newMailbox();
  const raw = rawMessage({ Subject: 'Where is order 7?', 'Message-ID': '<a@x.example>' });
  await inbound.receive(box, [raw]);

  const [row, ...others] = await storedMessages(mail.database, box.organizationId, box.mailboxId);
  expect(others).toHaveLength(0);
  expect(row).toMatchObject({ subject: 'Where is order 7?', message_id_header: 'a@x.example' });
  expect((await inbound.blobs.get(box.organizationId, row!.raw_sha256)).equals(raw)).toBe(true);
  expect(await spoolSize(box.organizationId)).toBe(0);
});

test('a repeat of the sender with another trace field is stored once', async () => {
  const box = await newMailbox();
  const raw = rawMessage({ 'Message-ID': '<once@x.example>', Subject: 'Once' });
  const again = Buffer.concat([Buffer.from('Received: from a by b\r\n\twith SMTP\r\n'), raw]);
  await inbound.receive(box, [raw, again]);
  await inbound.receive(box, [again]);
  expect(await storedMessages(mail.database, box.organizationId, box.mailboxId)).toHaveLength(1);
});

test('messages without a Message-ID are never taken for copies', async () => {
  const box = await newMailbox();
  await inbound.receive(box, [rawMessage({ Subject: 'Beep' }), rawMessage({ Subject: 'Beep' })]);
  expect(await storedMessages(mail.database, box.organizationId, box.mailboxId)).toHaveLength(2);
});

test('one Message-ID on two contents is two messages in two conversations', async () => {
  const box = await newMailbox();
  const id = { 'Message-ID': '<same@x.example>' };
  await inbound.receive(box, [
    rawMessage({ ...id, Subject: 'Scan 1' }),
    rawMessage({ ...id, Subject: 'Scan 2' }),
  ]);
  const rows = await storedMessages(mail.database, box.organizationId, box.mailboxId);
  expect(rows).toHaveLength(2);
  expect(new Set(rows.map((row) => row.conversation_id)).size).toBe(2);
});

test('a worker that died after its claim is replaced when its lease is over', async () => {
  const box = await newMailbox();
  const dead = await openInbound(mail.database, {
    leaseSeconds: 0,
    read: () => Promise.reject(Object.assign(new Error('gone'), { code: 'ECONNRESET' })),
  });
  await expect(
    dead.receive(box, [rawMessage({ Subject: 'Survivor', 'Message-ID': '<s@x.example>' })]),
  ).rejects.toThrow('gone');
  await dead.close();

  expect(await spoolSize(box.organizationId)).toBe(1);
  await inbound.pipeline.drain();
  expect(await storedMessages(mail.database, box.organizationId, box.mailboxId)).toHaveLength(1);
});

test('two workers with the same expired claim store its messages once', async () => {
  const box = await newMailbox();
  const options = { leaseSeconds: 0, lanes: 1 };
  const parts = [
    await openInbound(mail.database, options),
    await openInbound(mail.database, options),
  ];
  const raws = Array.from({ length: 20 }, (_, i) => rawMessage({ Subject: `No id ${i}` }));
  await Promise.all([
    parts[0]!.receive(box, raws),
    parts[1]!.pipeline.drain(),
    parts[1]!.pipeline.drain(),
  ]);
  expect(await storedMessages(mail.database, box.organizationId, box.mailboxId)).toHaveLength(20);
  for (const part of parts) await part.close();
});

test('a message that cannot be processed is kept as an attachment with a notice, and holds up nobody', async () => {
  const box = await newMailbox();
  const parts = await openInbound(mail.database, {
    read: async (raw) => {
      if (Buffer.from(raw).includes('poison')) throw new Error('reader broke');
      return readMessage(raw);
    },
  });
  await parts.receive(box, [
    rawMessage({ Subject: 'poison', 'Message-ID': '<p@x.example>' }),
    rawMessage({ Subject: 'fine', 'Message-ID': '<f@x.example>' }),
  ]);
  expect(
    (await storedMessages(mail.database, box.organizationId, box.mailboxId)).map((r) => r.subject),
  ).toEqual(['fine']);

  for (let attempt = 2; attempt <= 6; attempt += 1) {
    await mail.database.inTenant(box.organizationId, (tx) =>
      tx.query('update inbound_spool set next_attempt_at = now()'),
    );
    await parts.pipeline.drain();
  }
  const rows = await storedMessages(mail.database, box.organizationId, box.mailboxId);
  expect(rows.map((row) => row.subject).sort()).toEqual(['fine', 'poison']);
  expect(rows.find((row) => row.subject === 'poison')!.body_text).toContain(
    'could not be processed',
  );
  const { rows: attached } = await mail.database.inTenant(box.organizationId, (tx) =>
    tx.query<{ filename: string }>('select filename from attachment'),
  );
  expect(attached).toEqual([{ filename: 'message.eml' }]);
  await parts.close();
});

test('an outage is no try, and a message that takes the database too long is', async () => {
  const box = await newMailbox();
  let code = '57P01';
  const troubled = await openInbound(mail.database, {
    read: async (raw) => {
      if (Buffer.from(raw).includes('Slow')) throw Object.assign(new Error('failed'), { code });
      return readMessage(raw);
    },
  });
  const attempts = async () => {
    const { rows } = await mail.database.inTenant(box.organizationId, (tx) =>
      tx.query<{ attempts: number }>('select attempts from inbound_spool'),
    );
    return rows.map((row) => row.attempts);
  };
  const receive = (subject: string) => troubled.receive(box, [rawMessage({ Subject: subject })]);
  await expect(receive('Slow')).rejects.toThrow('failed');
  expect(await attempts()).toEqual([0]);
  code = '57014';
  await receive('Quick');
  expect((await attempts())[0]).toBeGreaterThan(0);
  const stored = await storedMessages(mail.database, box.organizationId, box.mailboxId);
  expect(stored.map(({ subject }) => subject)).toEqual(['Quick']);
  await mail.database.inTenant(box.organizationId, (tx) => tx.query('delete from inbound_spool'));
  await troubled.close();
});

test('our own mail that comes back to its mailbox is not received', async () => {
  const box = await newMailbox();
  await mail.database.inTenant(box.organizationId, async (tx) => {
    await tx.query(
      `insert into conversation (organization_id, id, mailbox_id, number, last_message_at, created_at, updated_at)
       values ($1, $2, $3, 900, now(), now(), now())`,
      [box.organizationId, box.mailboxId, box.mailboxId],
    );
    await tx.query(
      `insert into message (organization_id, id, conversation_id, mailbox_id, direction, status, from_address,
                            message_id_header, author_type, sort_at, created_at, updated_at)
       values ($1, $2, $3, $3, 'outbound', 'sent', jsonb_build_object('email', $4::text, 'name', ''),
               'sent@example.org', 'user', now(), now(), now())`,
      [box.organizationId, uuidv7(), box.mailboxId, box.address],
    );
  });
  await inbound.receive(box, [
    rawMessage({ From: box.address, 'Message-ID': '<sent@example.org>', Subject: 'Mine' }),
    rawMessage({ From: 'other@x.example', 'Message-ID': '<sent@example.org>', Subject: 'Theirs' }),
  ]);
  const rows = await storedMessages(mail.database, box.organizationId, box.mailboxId);
  expect(rows.map((row) => row.subject).sort()).toEqual(['', 'Theirs']);
});

test('messages of several organizations are stored each in its own', async () => {
  const [one, two] = [await newMailbox(), await newMailbox()];
  await inbound.receive(one, [rawMessage({ Subject: 'For one' })]);
  await inbound.receive(two, [rawMessage({ Subject: 'For two' })]);
  expect(
    (await storedMessages(mail.database, one.organizationId, one.mailboxId)).map((r) => r.subject),
  ).toEqual(['For one']);
  expect(await storedMessages(mail.database, one.organizationId, two.mailboxId)).toEqual([]);
  expect(await outboxKinds(two.organizationId)).toContain('mail.received');
});

test('a started pipeline stores what it is woken for', async () => {
  const box = await newMailbox();
  let stored = () => undefined as void;
  const done = new Promise<void>((resolve) => (stored = resolve));
  const pipeline = createInboundPipeline({
    database: mail.database,
    blobs: inbound.blobs,
    read: async (raw) => readMessage(raw),
    log: { warn: () => undefined, error: () => undefined },
    onResults: () => stored(),
    pollMs: 60_000,
  });
  await pipeline.start();
  await inbound.spool.append([
    spoolEntry({
      ...box,
      source: 'smtp',
      recipient: box.address,
      receivedAt: new Date(),
      raw: rawMessage({ Subject: 'Wake up' }),
    }),
  ]);
  pipeline.wake();
  await done;
  await pipeline.stop();
  expect(await storedMessages(mail.database, box.organizationId, box.mailboxId)).toHaveLength(1);
});

test('while arrivals have precedence little is stored, of everybody, and all of it after', async () => {
  const box = await newMailbox();
  let hasPrecedence = true;
  const yielding = await openInbound(mail.database, {
    mustYield: () => hasPrecedence,
    pollMs: 10,
  });
  const neighbor = await newMailbox();
  const arrived = (to: typeof box, subject: string) =>
    spoolEntry({
      ...to,
      source: 'smtp',
      recipient: to.address,
      clientAddress: '192.0.2.1',
      receivedAt: new Date(),
      raw: rawMessage({ Subject: subject }),
    });
  const size = (to: typeof box) => spoolSize(to.organizationId);
  await yielding.spool.append(Array.from({ length: 300 }, () => arrived(box, 'Flood')));
  await yielding.spool.append([arrived(neighbor, 'Honest')]);
  await yielding.pipeline.start();
  await eventually(async () => (await size(neighbor)) === 0);
  expect(await size(box)).toBeGreaterThan(200);

  hasPrecedence = false;
  await eventually(async () => (await size(box)) === 0);
  await yielding.close();
  const { length } = await storedMessages(mail.database, box.organizationId, box.mailboxId);
  expect(length).toBe(300);
});
