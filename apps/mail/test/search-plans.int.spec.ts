import { uuidv7, type Principal } from '@dak/kernel';
import { conversationFilter } from '../src/conversations/search/conversation-filter';
import { findConversations } from '../src/conversations/search/find-conversations-store';
import { SEARCH_LIMITS, type SearchLimits } from '../src/conversations/search/search-plan-sql';
import { MOST_RANKED, selectHits } from '../src/conversations/search/search-store';
import { searchVector } from '../src/conversations/search/search-vector';
import { textQuery } from '../src/conversations/search/text-query';
import { insertMailbox, openMailDatabase, principal, type MailDatabase } from './mail-fixtures';

const NEWEST_FIRST = { column: 'last_message_at', descending: true } as const;
const PAGE = { perPage: 100, offset: 0, after: null };

/** Each forces one way of reading. */
const WAYS: Record<string, SearchLimits> = {
  'by walking through the list': { ...SEARCH_LIMITS, complete: 10_000 },
  'by the index': { ...SEARCH_LIMITS, complete: 0, completeMessages: 0, common: 2 },
};
const COMMON: SearchLimits = { ...SEARCH_LIMITS, complete: 0, completeMessages: 0, common: 0 };

interface Stored {
  conversationId: string;
  mailboxId: string;
  departmentId: string | null;
  text: string;
}

describe('search', () => {
  const organizationId = uuidv7();
  const [sales, service] = [uuidv7(), uuidv7()];
  let mail: MailDatabase;
  let mailboxes: string[];
  let stored: Stored[];
  let admin: Principal;
  /** Assigned to the first mailbox alone. */
  let assigned: Principal;
  /** Assigned to none, in a department that has conversations in two. */
  let inSales: Principal;

  beforeAll(async () => {
    mail = await openMailDatabase();
    mailboxes = [];
    for (let i = 0; i < 3; i += 1) {
      mailboxes.push((await insertMailbox(mail.database, organizationId)).id);
    }
    admin = principal({ organizationId });
    assigned = principal({ organizationId, role: 'user' });
    inSales = principal({ organizationId, role: 'user', departmentIds: [sales] });
    await mail.database.inTenant(organizationId, (tx) =>
      tx.query(
        `insert into mailbox_user (organization_id, mailbox_id, user_id, access) values ($1, $2, $3, 'read')`,
        [organizationId, mailboxes[0], assigned.userId],
      ),
    );
    stored = [];
    const words = ['apple', 'apricot', 'banana', 'cherry', 'hi', 'an', 'order-77', 'zebra'];
    for (let i = 0; i < 240; i += 1) {
      const picked = words.filter((_, w) => (i * 7 + w * 13) % (w + 2) === 0);
      stored.push({
        conversationId: uuidv7(),
        mailboxId: mailboxes[i % 3]!,
        departmentId: i % 5 === 0 ? sales : i % 5 === 1 ? service : null,
        text: `everywhere ${picked.join(' ')}`,
      });
    }
    await insert(stored);
  });
  afterAll(async () => {
    await mail.close();
  });

  let numbers = 0;
  async function insert(rows: readonly Stored[]): Promise<void> {
    await mail.database.inTenant(organizationId, async (tx) => {
      await tx.query(
        `insert into conversation (organization_id, id, mailbox_id, number, subject, department_id,
                                   last_message_at, created_at, updated_at, message_count)
         select $1, id, mailbox_id, $5::int + n, 'subject', department_id, now() - make_interval(secs => n), now(), now(), 1
           from unnest($2::uuid[], $3::uuid[], $4::uuid[]) with ordinality as c(id, mailbox_id, department_id, n)`,
        [
          organizationId,
          rows.map((row) => row.conversationId),
          rows.map((row) => row.mailboxId),
          rows.map((row) => row.departmentId),
          numbers,
        ],
      );
      await tx.query(
        `insert into message (organization_id, id, conversation_id, mailbox_id, direction, status, author_type,
                              body_text, sort_at, created_at, updated_at, search)
         select $1, gen_random_uuid(), conversation_id, mailbox_id, 'inbound', 'received', 'external',
                body, now() - make_interval(secs => n), now(), now(), search::tsvector
           from unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[]) with ordinality as m(conversation_id, mailbox_id, body, search, n)`,
        [
          organizationId,
          rows.map((row) => row.conversationId),
          rows.map((row) => row.mailboxId),
          rows.map((row) => row.text),
          rows.map((row) =>
            searchVector({
              organizationId,
              mailboxId: row.mailboxId,
              subject: '',
              from: null,
              recipients: [],
              body: row.text,
            }),
          ),
        ],
      );
    });
    numbers += rows.length;
  }

  const visibleTo = (caller: Principal) => (row: Stored) =>
    caller === admin ||
    (caller === assigned && row.mailboxId === mailboxes[0]) ||
    (caller === inSales && row.departmentId === sales);
  const has = (word: string) => (row: Stored) => row.text.split(' ').includes(word);
  const CASES: [typed: string, matches: (row: Stored) => boolean][] = [
    ['zebra', has('zebra')],
    ['ap', () => false],
    ['app', has('apple')],
    ['apr che', (row) => has('apricot')(row) && has('cherry')(row)],
    ['hi', has('hi')],
    ['everywhere zebra', has('zebra')],
    ['"order 77"', has('order-77')],
    ['banana -zebra', (row) => has('banana')(row) && !has('zebra')(row)],
    ['-zebra', (row) => !has('zebra')(row)],
    ['apple or cherry', (row) => has('apple')(row) || has('cherry')(row)],
    ['nowhere', () => false],
  ];

  for (const [way, limits] of Object.entries(WAYS)) {
    it(`${way} finds what the caller sees, all of it and nothing else`, async () => {
      for (const caller of [admin, assigned, inSales]) {
        for (const [typed, matches] of CASES) {
          const expected = stored
            .filter((row) => visibleTo(caller)(row) && matches(row))
            .map((row) => row.conversationId);
          const hits = await searchFor(caller, typed, limits);
          expect([way, typed, hits.ids.sort()]).toEqual([way, typed, [...expected].sort()]);
          expect(hits.total).toEqual({ count: expected.length, isEstimate: false });
          const listed = await listFor(caller, typed, limits);
          expect(listed.ids).toEqual(expected.slice(0, PAGE.perPage + 1));
          expect(listed.total).toEqual({ count: expected.length, isEstimate: false });
        }
      }
    });
  }

  it('for common words fills pages from the list and says that totals are estimates', async () => {
    for (const caller of [admin, assigned, inSales]) {
      const expected = stored.filter(visibleTo(caller)).filter(has('everywhere'));
      const { ids, total } = await listFor(caller, 'everywhere', COMMON);
      expect(ids).toEqual(expected.map((row) => row.conversationId).slice(0, PAGE.perPage + 1));
      expect(total).toEqual({ count: expected.length, isEstimate: true });
      const hits = await searchFor(caller, 'everywhere', COMMON);
      expect(hits.ids).toHaveLength(expected.length);
      expect(hits.total.isEstimate).toBe(true);
    }
  });

  it('finds the newest first when the index finds more than is read, and says that totals are estimates', async () => {
    const few: SearchLimits = { ...WAYS['by the index']!, found: 5 };
    for (const caller of [admin, assigned, inSales]) {
      for (const [typed, matches] of CASES) {
        const all = stored.filter(matches).length;
        const expected = stored.filter((row) => visibleTo(caller)(row) && matches(row));
        const ids = expected.map((row) => row.conversationId);
        const listed = await listFor(caller, typed, few);
        expect([typed, listed.ids]).toEqual([typed, ids.slice(0, PAGE.perPage + 1)]);
        const hits = await searchFor(caller, typed, few);
        expect([typed, hits.ids.sort()]).toEqual([typed, ids.sort()]);
        if (all < 5) continue;
        const isCut = caller === admin || expected.length >= 5;
        if (isCut) expect([listed.total.isEstimate, hits.total.isEstimate]).toEqual([true, true]);
      }
    }
  });

  it('finds a conversation by its number, also when the number is a common word', async () => {
    const { rows } = await mail.database.inTenant(organizationId, (tx) =>
      tx.query<{ number: number }>(
        'select number from conversation where organization_id = $1 and id = $2',
        [organizationId, stored[200]!.conversationId],
      ),
    );
    for (const limits of [...Object.values(WAYS), COMMON]) {
      const { ids } = await listFor(admin, String(rows[0]!.number), limits);
      expect(ids).toEqual([stored[200]!.conversationId]);
    }
  });

  it('finds the one visible message among many that the caller does not see', async () => {
    const many = Array.from({ length: 12_000 }, () => ({
      conversationId: uuidv7(),
      mailboxId: mailboxes[1]!,
      departmentId: null,
      text: 'quagga greetings',
    }));
    const mine = {
      conversationId: uuidv7(),
      mailboxId: mailboxes[0]!,
      departmentId: null,
      text: 'quagga greetings',
    };
    await insert(many);
    await insert([mine]);
    for (const limits of [SEARCH_LIMITS, WAYS['by the index']!]) {
      for (const typed of ['quagga', 'quagga greetings', 'qua']) {
        const hits = await searchFor(assigned, typed, limits);
        expect(hits).toEqual({
          ids: [mine.conversationId],
          total: { count: 1, isEstimate: false },
        });
        const listed = await listFor(assigned, typed, limits);
        expect(listed.ids).toEqual([mine.conversationId]);
      }
      expect((await searchFor(inSales, 'quagga', limits)).ids).toEqual([]);
    }
    const all = await searchFor(admin, 'quagga', WAYS['by the index']!);
    expect(all.ids).toHaveLength(PAGE.perPage + 1);
    expect(all.total).toEqual({ count: 12_001, isEstimate: true });
    expect(all.total.count).toBeGreaterThan(MOST_RANKED);
  });

  async function searchFor(caller: Principal, typed: string, limits: SearchLimits) {
    const filter = conversationFilter({}, caller)!;
    const everything = { ...PAGE, perPage: typed === 'quagga' && caller === admin ? 100 : 1_000 };
    const { hits, total } = await mail.database.inTenant(organizationId, (tx) =>
      selectHits(tx, caller, textQuery(typed)!, filter, ['conversation'], everything, limits),
    );
    return { ids: hits.map((hit) => hit.id), total };
  }

  async function listFor(caller: Principal, typed: string, limits: SearchLimits) {
    const filter = { ...conversationFilter({}, caller)!, query: typed };
    const { rows, total } = await mail.database.inTenant(organizationId, (tx) =>
      findConversations(tx, caller, filter, NEWEST_FIRST, PAGE, limits),
    );
    return { ids: rows.map((row) => row.id), total };
  }
});
