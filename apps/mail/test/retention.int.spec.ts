import { uuidv7 } from '@dak/kernel';
import { recordMessages } from '../src/conversations/messages/record-messages';
import { removeExpired } from '../src/retention/remove-expired';
import {
  insertMailbox,
  newConversationIn,
  newMessage,
  openMailDatabase,
  type MailDatabase,
} from './mail-fixtures';

const DAY_MS = 86_400_000;
const NOW = Date.now();
const OLD = new Date(NOW - 40 * DAY_MS).toISOString();
const YOUNG = new Date(NOW - 2 * DAY_MS).toISOString();

describe('the retention of mail', () => {
  let mail: MailDatabase;
  let organizationId: string;
  let mailboxId: string;
  beforeAll(async () => {
    mail = await openMailDatabase();
  });
  beforeEach(async () => {
    organizationId = uuidv7();
    ({ id: mailboxId } = await insertMailbox(mail.database, organizationId));
  });
  afterAll(() => mail.close());

  const query = async <Row>(sql: string, values: unknown[] = []): Promise<Row[]> => {
    const { rows } = await mail.database.inTenant(organizationId, (tx) =>
      tx.query<Row>(sql, values),
    );
    return rows;
  };
  /** A conversation with a message from each of the times. */
  const conversationOf = async (times: readonly string[], labels: string[] = []) => {
    const conversation = { ...(await newConversationIn(mail.database, organizationId)), labels };
    for (const [index, receivedAt] of times.entries()) {
      await mail.database.inTenant(organizationId, (tx) =>
        recordMessages(tx, organizationId, [
          newMessage(mailboxId, {
            conversation: index === 0 ? conversation : { kind: 'existing', id: conversation.id },
            receivedAt,
            sortAt: receivedAt,
            sizeBytes: 1_000,
          }),
        ]),
      );
    }
    return conversation.id;
  };
  const retain = (days: number | null) =>
    removeExpired(mail.database, {
      organizationId,
      before: days === null ? null : NOW - days * DAY_MS,
      budgetMs: 60_000,
      isGentle: false,
      now: NOW,
    });
  const tally = async () => {
    const [row] = await query<{ conversations: number; bytes: number }>(
      `select coalesce(sum(conversations), 0)::int as conversations, coalesce(sum(size_bytes), 0)::int as bytes
         from conversation_tally where organization_id = $1`,
      [organizationId],
    );
    return row;
  };

  it('removes what arrived before, keeps the rest, and the totals follow', async () => {
    const gone = await conversationOf([OLD, OLD]);
    const shorter = await conversationOf([OLD, YOUNG]);
    const kept = await conversationOf([YOUNG]);
    expect(await tally()).toEqual({ conversations: 3, bytes: 5_000 });

    expect(await retain(30)).toMatchObject({ messages: 3, conversations: 1, more: false });
    const rows = await query<{ id: string; message_count: number; size_bytes: number }>(
      'select id, message_count, size_bytes from conversation where organization_id = $1 order by id',
      [organizationId],
    );
    expect(rows.map(({ id }) => id)).not.toContain(gone);
    expect(rows).toEqual(
      [shorter, kept].sort().map((id) => ({ id, message_count: 1, size_bytes: 1_000 })),
    );
    expect(await tally()).toEqual({ conversations: 2, bytes: 2_000 });
    expect(await query('select from activity where conversation_id = $1', [gone])).toEqual([]);
    expect(await retain(30)).toMatchObject({ messages: 0, conversations: 0 });
  });

  it('touches nothing of a conversation that is held, until it is not', async () => {
    const held = await conversationOf([OLD, OLD], ['legal-hold']);
    expect(await retain(30)).toMatchObject({ messages: 0, conversations: 0 });
    await query(`update conversation set labels = '{}' where id = $1`, [held]);
    expect(await retain(30)).toMatchObject({ messages: 2, conversations: 1 });
  });

  it('removes nothing of an organization without retention', async () => {
    await conversationOf([OLD]);
    expect(await retain(null)).toMatchObject({ messages: 0, conversations: 0, mailboxes: 0 });
  });

  it('removes a mailbox that was deleted 30 days ago with all it holds, unless something is held', async () => {
    const first = await conversationOf([YOUNG, YOUNG]);
    const held = await conversationOf([YOUNG], ['legal-hold']);
    const deleted = async (days: number) =>
      query('update mailbox set deleted_at = $2 where id = $1', [
        mailboxId,
        new Date(NOW - days * DAY_MS).toISOString(),
      ]);
    await deleted(29);
    expect(await retain(null)).toMatchObject({ mailboxes: 0 });
    await deleted(31);
    expect(await retain(null)).toMatchObject({ mailboxes: 0, messages: 0 });
    await query(`update conversation set labels = '{}' where id = any($1::uuid[])`, [
      [held, first],
    ]);
    expect(await retain(null)).toMatchObject({ mailboxes: 1, messages: 3, conversations: 2 });
    expect(await query('select from mailbox where organization_id = $1', [organizationId])).toEqual(
      [],
    );
    expect(await tally()).toEqual({ conversations: 0, bytes: 0 });
  });

  it('removes each mail once, however many do it at the same time', async () => {
    for (let i = 0; i < 6; i += 1) await conversationOf([OLD, OLD]);
    const all = await Promise.all([retain(30), retain(30), retain(30)]);
    const sum = (of: (one: (typeof all)[number]) => number) =>
      all.reduce((n, one) => n + of(one), 0);
    expect([sum(({ messages }) => messages), sum((one) => one.conversations)]).toEqual([12, 6]);
    expect(await tally()).toEqual({ conversations: 0, bytes: 0 });
  });

  it('keeps an empty conversation that is held while it waits for it', async () => {
    const id = await conversationOf([OLD]);
    await query('delete from message where organization_id = $1', [organizationId]);
    await query(
      'update conversation set message_count = 0, updated_at = $2 where organization_id = $1',
      [organizationId, OLD],
    );
    let retaining: ReturnType<typeof retain> | undefined;
    await mail.database.inTenant(organizationId, async (tx) => {
      await tx.query(`update conversation set labels = '{legal-hold}' where organization_id = $1`, [
        organizationId,
      ]);
      retaining = retain(30);
      for (;;) {
        const { rowCount } = await tx.query(
          `select from pg_locks where not granted and pid in (select pid from pg_locks where relation = 'conversation'::regclass)`,
        );
        if (rowCount > 0) break;
      }
    });
    expect(await retaining).toMatchObject({ conversations: 0 });
    expect(
      await query('select id from conversation where organization_id = $1', [organizationId]),
    ).toEqual([{ id }]);
  });
});
