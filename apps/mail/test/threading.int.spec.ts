import fc from 'fast-check';
import { uuidv7 } from '@dak/kernel';
import { allocateConversationNumbers } from '../src/conversations/conversation-store';
import { mergeConversations } from '../src/conversations/merge-conversations';
import { splitConversation } from '../src/conversations/split-conversation';
import { threadGroups } from '../src/conversations/threading/thread-groups';
import { contentHash } from '../src/receiving/pipeline/content-identity';
import { threadMessage } from '../src/receiving/pipeline/thread-message';
import { readMessage } from '../src/receiving/reading/read-message';
import {
  openInbound,
  rawMessage,
  storedMessages,
  storedThreads,
  type InboundParts,
} from './inbound-fixtures';
import { insertMailbox, openMailDatabase, type MailDatabase } from './mail-fixtures';

let mail: MailDatabase;
let inbound: InboundParts;
let second: InboundParts;

beforeAll(async () => {
  mail = await openMailDatabase(6);
  inbound = await openInbound(mail.database);
  second = await openInbound(mail.database, { batchSize: 2 });
});
afterAll(async () => {
  await inbound.close();
  await second.close();
  await mail.close();
});

async function newMailbox() {
  const organizationId = uuidv7();
  const { id, address } = await insertMailbox(mail.database, organizationId);
  return { organizationId, mailboxId: id, address };
}

type Box = Awaited<ReturnType<typeof newMailbox>>;
const threadsOf = (box: Box) => storedThreads(mail.database, box.organizationId, box.mailboxId);
const rowsOf = (box: Box) => storedMessages(mail.database, box.organizationId, box.mailboxId);

const DAY = 24 * 3600 * 1000;
const start = Date.UTC(2026, 9, 1);

const sketch = fc.record({
  inReplyTo: fc.option(fc.integer({ min: 0, max: 13 }), { freq: 2 }),
  references: fc.array(fc.integer({ min: 0, max: 13 }), { maxLength: 2 }),
  subject: fc.constantFrom(
    ...['a', 'Re: a', 'b', 'Re: b', 'Aw: a', 'b (was: a)', 'Re: b (was: Re: a)'],
    ...['[PATCH 1/2] c', '[PATCH 2/2] d'],
  ),
  day: fc.integer({ min: 0, max: 20 }),
  from: fc.constantFrom('ann', 'bob'),
  words: fc.constantFrom('one two three four five six', 'seven eight nine ten eleven twelve'),
  quotes: fc.option(
    fc.constantFrom('one two three four five six', 'seven eight nine ten eleven twelve'),
  ),
});

/** fast-check prints it when the property fails, with the path to the counterexample. */
const SEED = 20261121;

test('any order and any batches of arrival, two workers at once and copies give the threads of the definition', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(sketch, { minLength: 3, maxLength: 14 }).chain((list) =>
        fc.tuple(
          fc.constant(list),
          fc.shuffledSubarray(
            list.map((_, i) => i),
            { minLength: list.length },
          ),
          fc.array(fc.integer({ min: 1, max: 5 }), {
            minLength: list.length,
            maxLength: list.length,
          }),
        ),
      ),
      async ([list, order, batches]) => {
        const box = await newMailbox();
        const raws = list.map((one, index) =>
          rawMessage(
            {
              'Message-ID': `<m${index}@x>`,
              Subject: one.subject,
              From: `${one.from} <${one.from}@x.example>`,
              To: box.address,
              Date: new Date(start + one.day * DAY).toUTCString(),
              ...(one.inReplyTo === null ? {} : { 'In-Reply-To': `<m${one.inReplyTo}@x>` }),
              ...(one.references.length === 0
                ? {}
                : { References: one.references.map((id) => `<m${id}@x>`).join(' ') }),
            },
            one.quotes === null
              ? `${one.words}\n`
              : `${one.words}\n\nOn Monday ann@x.example wrote:\n> ${one.quotes}\n`,
          ),
        );
        const hashes = await Promise.all(raws.map(contentHash));
        const defined = threadGroups(
          raws.map((raw, index) =>
            threadMessage(readMessage(raw), {
              id: `m${index}@x`,
              mailboxAddress: box.address,
              contentHash: hashes[index]!.toString('hex'),
              receivedAt: start,
            }),
          ),
        )
          .map((group) => group.sort())
          .sort((a, b) => (a[0]! < b[0]! ? -1 : 1));
        for (let at = 0, batch = 0; at < order.length; batch += 1) {
          const size = batches[batch]!;
          const part = order.slice(at, at + size).map((index) => raws[index]!);
          // The last of a batch comes again with the next one, and a second worker helps.
          const copies = at === 0 ? [] : [raws[order[at - 1]!]!];
          await Promise.all([
            inbound.receive(box, part.slice(0, 2)),
            second.receive(box, [...part.slice(2), ...copies]),
          ]);
          at += size;
        }
        await inbound.pipeline.drain();
        expect(await threadsOf(box)).toEqual(defined);
      },
    ),
    { numRuns: 30, seed: SEED },
  );
}, 60_000);

test('messages stored by concurrent workers end up in one conversation', async () => {
  const box = await newMailbox();
  const parts = await Promise.all(
    [1, 2, 3].map(() => openInbound(mail.database, { batchSize: 2 })),
  );
  const ids = Array.from({ length: 12 }, (_, index) => index);
  const raws = ids.map((id) =>
    rawMessage({
      'Message-ID': `<c${id}@x>`,
      Subject: 'Re: chain',
      References: id === 0 ? '<lost@x>' : `<c${id - 1}@x>`,
      'In-Reply-To': id === 0 ? '<lost@x>' : `<c${id - 1}@x>`,
    }),
  );
  await Promise.all(
    parts.map((part, lane) => part.receive(box, raws.filter((_, i) => i % 3 === lane).reverse())),
  );
  await parts[0]!.pipeline.drain();
  expect(await threadsOf(box)).toHaveLength(1);
  for (const part of parts) await part.close();
});

test('a thread that people split stays split, and a reply goes to the part it answers', async () => {
  const box = await newMailbox();
  await inbound.receive(box, [
    rawMessage({ 'Message-ID': '<1@x>', Subject: 'Two things' }),
    rawMessage({ 'Message-ID': '<2@x>', Subject: 'Re: Two things', 'In-Reply-To': '<1@x>' }),
  ]);
  const before = await rowsOf(box);
  const second = before.find((row) => row.message_id_header === '2@x')!;
  const [number] = await allocateConversationNumbers(mail.database, box.organizationId, 1);
  await mail.database.inTenant(box.organizationId, (tx) =>
    splitConversation(
      tx,
      box.organizationId,
      {
        conversationId: second.conversation_id,
        messageIds: [second.id],
        newConversationId: uuidv7(),
        newNumber: number!,
      },
      { type: 'user', id: uuidv7(), name: 'Asha', runId: null },
    ),
  );
  await inbound.receive(box, [
    rawMessage({
      'Message-ID': '<3@x>',
      Subject: 'Re: Two things',
      'In-Reply-To': '<2@x>',
      References: '<1@x> <2@x>',
    }),
  ]);
  expect(await threadsOf(box)).toEqual([['1@x'], ['2@x', '3@x']]);
});

test('conversations that people merged stay merged when a reply arrives', async () => {
  const box = await newMailbox();
  await inbound.receive(box, [
    rawMessage({ 'Message-ID': '<1@x>', Subject: 'One' }),
    rawMessage({ 'Message-ID': '<2@x>', Subject: 'Two' }),
  ]);
  const ids = (await rowsOf(box)).map((row) => row.conversation_id);
  const actor = { type: 'user', id: uuidv7(), name: 'Asha', runId: null } as const;
  await mail.database.inTenant(box.organizationId, (tx) =>
    mergeConversations(tx, box.organizationId, ids, actor, 'asked'),
  );
  await inbound.receive(box, [
    rawMessage({ 'Message-ID': '<3@x>', Subject: 'Re: Two', 'In-Reply-To': '<2@x>' }),
  ]);
  expect(await threadsOf(box)).toEqual([['1@x', '2@x', '3@x']]);
});

test('a reply to a closed conversation opens one that continues it, and the next reply joins that', async () => {
  const box = await newMailbox();
  await inbound.receive(box, [rawMessage({ 'Message-ID': '<1@x>', Subject: 'Done' })]);
  const [first] = await rowsOf(box);
  await mail.database.inTenant(box.organizationId, (tx) =>
    tx.query(`update conversation set status = 'closed' where id = $1`, [first!.conversation_id]),
  );
  for (const id of [2, 3]) {
    await inbound.receive(box, [
      rawMessage({
        'Message-ID': `<${id}@x>`,
        Subject: 'Re: Done',
        References: '<1@x>',
        'In-Reply-To': '<1@x>',
      }),
    ]);
  }
  expect(await threadsOf(box)).toEqual([['1@x'], ['2@x', '3@x']]);
  const { rows } = await mail.database.inTenant(box.organizationId, (tx) =>
    tx.query<{ linked_conversation_id: string }>(
      'select linked_conversation_id from conversation where linked_conversation_id is not null',
    ),
  );
  expect(rows).toEqual([{ linked_conversation_id: first!.conversation_id }]);
});

test('a reply without headers joins the outbound message it answers, and no stranger does', async () => {
  const box = await newMailbox();
  const conversationId = uuidv7();
  await mail.database.inTenant(box.organizationId, async (tx) => {
    await tx.query(
      `insert into conversation (organization_id, id, mailbox_id, number, last_message_at, created_at, updated_at)
       values ($1, $2, $3, 900, now(), now(), now())`,
      [box.organizationId, conversationId, box.mailboxId],
    );
    await tx.query(
      `insert into message (organization_id, id, conversation_id, mailbox_id, direction, status, from_address, to_addresses,
                            body_text, subject, base_subject, message_id_header, author_type, sort_at, created_at, updated_at)
       values ($1, $2, $3, $4, 'outbound', 'sent', jsonb_build_object('email', $5::text, 'name', ''),
               '[{"email":"ann@x.example","name":""}]',
               'We offer ten pumps of the best kind for next week.', 'Offer', 'Offer', 'o@x', 'user', $6, now(), now())`,
      [box.organizationId, uuidv7(), conversationId, box.mailboxId, box.address, new Date(start)],
    );
  });
  const reply = {
    Subject: 'Re: Offer',
    Date: new Date(start + DAY).toUTCString(),
    To: box.address,
  };
  await inbound.receive(box, [
    rawMessage({ ...reply, From: 'ann@x.example', 'Message-ID': '<a@x>' }),
    rawMessage(
      { ...reply, From: 'eve@x.example', 'Message-ID': '<e@x>' },
      `Yes.\n\n${box.address} wrote:\n> We offer ten pumps of the best kind for next week.\n`,
    ),
  ]);
  expect(await threadsOf(box)).toEqual([['a@x', 'o@x'], ['e@x']]);
});

test('a reply finds its way through conversations that were merged', async () => {
  const box = await newMailbox();
  const reply = (id: number, to: string) =>
    rawMessage({ 'Message-ID': `<${id}@x>`, Subject: 'Re: Pump', 'In-Reply-To': to });
  await inbound.receive(box, [reply(1, '<a@x>'), reply(2, '<b@x>')]);
  await inbound.receive(box, [
    rawMessage({
      'Message-ID': '<3@x>',
      Subject: 'Re: Pump',
      'In-Reply-To': '<1@x>',
      References: '<2@x> <1@x>',
    }),
  ]);
  await inbound.receive(box, [rawMessage({ 'Message-ID': '<b@x>', Subject: 'Pump' })]);
  expect(await threadsOf(box)).toEqual([['1@x', '2@x', '3@x', 'b@x']]);
});
