import fc from 'fast-check';
import { SYSTEM, uuidv7 } from '@dak/kernel';
import { aggregate } from '../src/conversations/conversation-aggregates';
import {
  allocateConversationNumbers,
  selectMessageFacts,
} from '../src/conversations/conversation-store';
import { mergeConversations } from '../src/conversations/merge-conversations';
import { recordMessages } from '../src/conversations/messages/record-messages';
import { reviseConversations } from '../src/conversations/revise-conversations';
import { splitConversation } from '../src/conversations/split-conversation';
import {
  insertMailbox,
  newConversationIn,
  newMessage,
  outboxEvents,
  principal,
  type MailDatabase,
} from './mail-fixtures';
import { as, openMailHandlers, updateRequest, type MailHandlers } from './mail-handlers';

type Operation =
  | { kind: 'record'; conversation: number; minute: number; direction: 0 | 1 | 2; unread: boolean }
  | { kind: 'merge'; a: number; b: number }
  | { kind: 'split'; conversation: number; count: number }
  | { kind: 'update'; conversation: number; status: 'open' | 'resolved' | 'waiting'; spam: boolean }
  | { kind: 'cancel'; conversation: number };

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('record' as const),
      conversation: fc.nat(5),
      minute: fc.nat(600),
      direction: fc.constantFrom(0 as const, 1 as const, 2 as const),
      unread: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('merge' as const), a: fc.nat(5), b: fc.nat(5) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('split' as const),
      conversation: fc.nat(5),
      count: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('update' as const),
      conversation: fc.nat(5),
      status: fc.constantFrom('open' as const, 'resolved' as const, 'waiting' as const),
      spam: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('cancel' as const), conversation: fc.nat(5) }),
  },
);

const DIRECTIONS = ['inbound', 'outbound', 'internal_note'] as const;

describe('what conversations add up', () => {
  let mail: MailHandlers;
  beforeAll(async () => {
    mail = await openMailHandlers();
  });
  afterAll(() => mail.close());

  it('equals a recomputation from the messages, and the tally equals a count, after any operations', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 5, maxLength: 25 }), async (operations) => {
        const organizationId = uuidv7();
        const admin = principal({ organizationId });
        const mailbox = await insertMailbox(mail.database, organizationId);
        const ids: string[] = [];
        for (const step of operations)
          await apply(mail, organizationId, admin, mailbox.id, ids, step);
        await expectConsistent(mail, organizationId, mailbox.address);
        await expectNumberedEvents(mail, organizationId);
      }),
      { numRuns: 12, seed: 20261121 },
    );
  }, 60_000);
});

async function apply(
  mail: MailHandlers,
  organizationId: string,
  admin: ReturnType<typeof principal>,
  mailboxId: string,
  ids: string[],
  step: Operation,
): Promise<void> {
  const { database } = mail;
  const pick = (n: number) => ids[n % Math.max(1, ids.length)];
  if (step.kind === 'record') {
    const id = step.conversation < ids.length ? pick(step.conversation) : undefined;
    const conversation =
      id === undefined
        ? await newConversationIn(database, organizationId)
        : ({ kind: 'existing', id } as const);
    const direction = DIRECTIONS[step.direction];
    const message = newMessage(mailboxId, {
      conversation,
      direction,
      status: direction === 'outbound' ? 'queued' : 'received',
      kind: direction === 'inbound' ? 'human' : null,
      unread: direction === 'inbound' && step.unread,
      sortAt: new Date(Date.UTC(2026, 0, 1, 0, step.minute)).toISOString(),
      attachments:
        step.minute % 3 === 0
          ? [
              {
                id: uuidv7(),
                filename: 'a.pdf',
                contentType: 'application/pdf',
                sizeBytes: 10,
                sha256: 'ab'.repeat(32),
                disposition: 'attachment',
                contentId: null,
              },
            ]
          : [],
    });
    await database.inTenant(organizationId, (tx) => recordMessages(tx, organizationId, [message]));
    if (id === undefined) ids.push(conversation.id);
    return;
  }
  if (ids.length === 0) return;
  switch (step.kind) {
    case 'merge':
      await database.inTenant(organizationId, (tx) =>
        mergeConversations(tx, organizationId, [pick(step.a)!, pick(step.b)!], SYSTEM, 'test'),
      );
      return;
    case 'split': {
      const [newNumber] = await allocateConversationNumbers(database, organizationId, 1);
      const newConversationId = uuidv7();
      const made = await database.inTenant(organizationId, async (tx) => {
        const { rows } = await tx.query<{ id: string }>(
          'select id from message where organization_id = $1 and conversation_id = $2 order by id',
          [organizationId, pick(step.conversation)],
        );
        if (rows.length <= step.count) return false;
        const messageIds = rows.slice(0, step.count).map((row) => row.id);
        await splitConversation(
          tx,
          organizationId,
          {
            conversationId: pick(step.conversation)!,
            messageIds,
            newConversationId,
            newNumber: newNumber!,
          },
          SYSTEM,
        );
        return true;
      });
      if (made) ids.push(newConversationId);
      return;
    }
    case 'update':
      await mail.conversations
        .updateConversation(
          updateRequest(pick(step.conversation)!, {
            status: step.status,
            disposition: step.spam ? 'spam' : 'normal',
          }),
          as(admin),
        )
        .catch((error: { code?: string }) => expect(error.code).toBe('conversation_merged'));
      return;
    case 'cancel':
      await database.inTenant(organizationId, async (tx) => {
        const { rows } = await tx.query<{ id: string; conversation_id: string }>(
          `update message set status = 'canceled'
            where (organization_id, id) in (select organization_id, id from message
                   where organization_id = $1 and conversation_id = $2 and direction = 'outbound' limit 1)
        returning id, conversation_id`,
          [organizationId, pick(step.conversation)],
        );
        if (rows[0] === undefined) return;
        await reviseConversations(tx, organizationId, [
          { conversationId: rows[0].conversation_id, event: 'withdrawn', actor: SYSTEM },
        ]);
      });
  }
}

async function expectConsistent(
  mail: Pick<MailDatabase, 'database'>,
  organizationId: string,
  address: string,
): Promise<void> {
  await mail.database.inTenant(organizationId, async (tx) => {
    const { rows } = await tx.query<Record<string, unknown> & { id: string; created_at: string }>(
      'select * from conversation where organization_id = $1 and merged_into_id is null',
      [organizationId],
    );
    const facts = Map.groupBy(
      await selectMessageFacts(
        tx,
        organizationId,
        rows.map((row) => row.id),
      ),
      (fact) => fact.conversation_id,
    );
    for (const row of rows) {
      expect(row).toMatchObject(aggregate(facts.get(row.id) ?? [], row.created_at, address));
    }

    const { rows: counted } = await tx.query(
      `select mailbox_id, status, disposition, count(*) as conversations,
              count(*) filter (where unread_count > 0) as unread, sum(size_bytes)::bigint as size_bytes
         from conversation
        where organization_id = $1 and merged_into_id is null
        group by 1, 2, 3 order by 1, 2, 3`,
      [organizationId],
    );
    const { rows: tallied } = await tx.query(
      `select mailbox_id, status, disposition, sum(conversations)::bigint as conversations,
              sum(unread)::bigint as unread, sum(size_bytes)::bigint as size_bytes
         from conversation_tally
        where organization_id = $1
        group by 1, 2, 3 having sum(conversations) <> 0 order by 1, 2, 3`,
      [organizationId],
    );
    expect(tallied).toEqual(counted);
  });
}

/** Every change has said so, and receivers can tell that nothing is missing. */
async function expectNumberedEvents(
  mail: Pick<MailDatabase, 'database'>,
  organizationId: string,
): Promise<void> {
  const events = await outboxEvents(mail.database, organizationId);
  const sequences = Map.groupBy(events, (event) => event.conversationId);
  const { rows } = await mail.database.inTenant(organizationId, (tx) =>
    tx.query<{ id: string; event_sequence: number }>('select id, event_sequence from conversation'),
  );
  for (const { id, event_sequence } of rows) {
    const expected = Array.from({ length: event_sequence }, (_, index) => index + 1);
    expect(sequences.get(id)?.map((event) => event.sequence)).toEqual(expected);
  }
}
