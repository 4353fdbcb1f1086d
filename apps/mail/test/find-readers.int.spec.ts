import type { EventPlace } from '@dak/contracts/mail';
import { actorOf, type Principal, uuidv7 } from '@dak/kernel';
import fc from 'fast-check';
import { mergeConversations } from '../src/conversations/merge-conversations';
import { findReaders } from '../src/mailboxes/readers/find-readers';
import { ownDomain, principal } from './mail-fixtures';
import {
  LIST,
  as,
  createRequest,
  listOf,
  openMailHandlers,
  updateRequest,
  type MailHandlers,
} from './mail-handlers';

const MAILBOXES = 3;
const ACCESS = ['read', 'write', 'send'] as const;

describe('findReaders', () => {
  let mail: MailHandlers;
  beforeAll(async () => {
    mail = await openMailHandlers();
  });
  afterAll(() => mail.close());

  const place = (conversationId: string, mailboxId = '', departmentId?: string): EventPlace => ({
    conversationId,
    mailboxId,
    ...(departmentId === undefined ? {} : { departmentId }),
  });

  async function readersOf(organizationId: string, users: Principal[], places: EventPlace[]) {
    const reply = await findReaders(mail.database, {
      organizationId,
      places,
      readers: users.map(({ userId, departmentIds }) => ({
        userId,
        departmentIds: [...departmentIds],
      })),
    });
    return reply.places.map(({ userIds }) => [...userIds].sort());
  }

  async function openMailboxes(admin: Principal, count: number): Promise<string[]> {
    const ids: string[] = [];
    const domain = `${admin.organizationId}.example`;
    await ownDomain(mail.database, admin.organizationId, domain);
    for (let index = 0; index < count; index += 1) {
      const address = `readers-${uuidv7().slice(-12)}@${domain}`;
      ids.push((await mail.mailboxes.createMailbox(createRequest(address), as(admin))).id);
    }
    return ids;
  }

  const assign = (
    admin: Principal,
    mailboxId: string,
    users: { userId: string; access: string }[],
    departmentIds: string[] = [],
  ) => mail.mailboxes.putAssignments({ mailboxId, users, departmentIds }, as(admin));

  it('tells those who may also send', async () => {
    const admin = principal();
    const { organizationId } = admin;
    const [mailboxId] = await openMailboxes(admin, 1);
    const department = uuidv7();
    const users = ACCESS.map(() => principal({ organizationId, role: 'user' }));
    const colleague = principal({ organizationId, role: 'user', departmentIds: [department] });
    const both = principal({ organizationId, role: 'user', departmentIds: [department] });
    await assign(
      admin,
      mailboxId!,
      [...users, both].map(({ userId }, index) => ({ userId, access: ACCESS[index] ?? 'read' })),
      [department],
    );
    const { conversationId } = await mail.receive(organizationId, mailboxId!);
    const everybody = [...users, colleague, both];
    const reply = await findReaders(mail.database, {
      organizationId,
      places: [place(conversationId), place(uuidv7())],
      readers: everybody.map(({ userId, departmentIds }) => ({
        userId,
        departmentIds: [...departmentIds],
      })),
    });
    const [told, nothing] = reply.places;
    const ids = (some: Principal[]) => some.map(({ userId }) => userId).sort();
    expect([...told!.userIds].sort()).toEqual(ids(everybody));
    const senders = users.filter((_, index) => ACCESS[index] === 'send');
    expect([...told!.senderIds].sort()).toEqual(ids([...senders, colleague, both]));
    expect(nothing).toEqual({ userIds: [], senderIds: [] });
  });

  it('says yes exactly where the list of that user shows the conversation', async () => {
    const admin = principal();
    const { organizationId } = admin;
    const departments = [uuidv7(), uuidv7()];
    const mailboxIds = await openMailboxes(admin, MAILBOXES);
    const conversationIds: string[] = [];
    for (const mailboxId of [...mailboxIds, ...mailboxIds]) {
      conversationIds.push((await mail.receive(organizationId, mailboxId)).conversationId);
    }
    const user = fc.record({
      memberOf: fc.subarray([0, 1]),
      assignments: fc.uniqueArray(fc.tuple(fc.nat(MAILBOXES - 1), fc.constantFrom(...ACCESS)), {
        selector: ([mailbox]) => mailbox,
      }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(user, { minLength: 1, maxLength: 3 }),
        fc.array(fc.subarray([0, 1]), { minLength: MAILBOXES, maxLength: MAILBOXES }),
        fc.array(fc.option(fc.nat(1)), { minLength: 6, maxLength: 6 }),
        fc.subarray([...mailboxIds.keys()], { maxLength: 1 }),
        async (people, ofMailboxes, routed, deleted) => {
          const users = people.map(({ memberOf }) =>
            principal({
              organizationId,
              role: 'user',
              departmentIds: memberOf.map((index) => departments[index]!),
            }),
          );
          for (const [index, mailboxId] of mailboxIds.entries()) {
            const assigned = people.flatMap(({ assignments }, person) =>
              assignments
                .filter(([mailbox]) => mailbox === index)
                .map(([, access]) => ({ userId: users[person]!.userId, access })),
            );
            const through = ofMailboxes[index]!.map((department) => departments[department]!);
            await assign(admin, mailboxId, assigned, through);
          }
          await mail.database.inTenant(organizationId, async (tx) => {
            for (const [index, id] of conversationIds.entries()) {
              const department = routed[index];
              await tx.query(
                'update conversation set department_id = $3 where organization_id = $1 and id = $2',
                [
                  organizationId,
                  id,
                  typeof department === 'number' ? departments[department] : null,
                ],
              );
            }
            await tx.query(
              'update mailbox set deleted_at = case when id = any($2::uuid[]) then now() end where organization_id = $1',
              [organizationId, deleted.map((index) => mailboxIds[index])],
            );
          });

          const readers = await readersOf(
            organizationId,
            users,
            conversationIds.map((id) => place(id)),
          );

          for (const who of users) {
            const records = await listOf<{ id: string }>(
              mail.conversations.listConversations(LIST, as(who)),
            );
            const told = conversationIds.filter((_, index) => readers[index]!.includes(who.userId));
            expect(new Set(told)).toEqual(new Set(records.map(({ id }) => id)));
          }
          // Restored here, because a deleted mailbox takes no assignments.
          await mail.database.inTenant(organizationId, (tx) =>
            tx.query('update mailbox set deleted_at = null where organization_id = $1', [
              organizationId,
            ]),
          );
        },
      ),
      { numRuns: 15 },
    );
  });

  describe('for one assigned user', () => {
    const admin = principal();
    const { organizationId } = admin;
    const user = principal({ organizationId, role: 'user' });
    let mailboxId = '';
    beforeAll(async () => {
      [mailboxId] = (await openMailboxes(admin, 1)) as [string];
    });
    beforeEach(() => assign(admin, mailboxId, [{ userId: user.userId, access: 'read' }]));

    it('ends with the assignment', async () => {
      const { conversationId } = await mail.receive(organizationId, mailboxId);
      expect(await readersOf(organizationId, [user], [place(conversationId)])).toEqual([
        [user.userId],
      ]);
      await assign(admin, mailboxId, []);
      expect(await readersOf(organizationId, [user], [place(conversationId)])).toEqual([[]]);
    });

    it('follows conversations that were merged, twice', async () => {
      const ids: string[] = [];
      for (let index = 0; index < 3; index += 1) {
        ids.push((await mail.receive(organizationId, mailboxId)).conversationId);
      }
      const [oldest, middle, newest] = ids as [string, string, string];
      const by = actorOf(admin);
      await mail.database.inTenant(organizationId, (tx) =>
        mergeConversations(tx, organizationId, [newest, middle], by, 'test'),
      );
      await mail.database.inTenant(organizationId, (tx) =>
        mergeConversations(tx, organizationId, [middle, oldest], by, 'test'),
      );
      const colleague = principal({ organizationId, role: 'user', departmentIds: [uuidv7()] });
      await mail.conversations.updateConversation(
        updateRequest(oldest, { departmentId: colleague.departmentIds[0]! }),
        as(admin),
      );
      const both = [user.userId, colleague.userId].sort();
      expect(
        await readersOf(
          organizationId,
          [user, colleague],
          ids.map((id) => place(id)),
        ),
      ).toEqual([both, both, both]);
    });

    it('goes by the place of the event when the conversation does not exist, and by what is now when it does', async () => {
      const { conversationId } = await mail.receive(organizationId, mailboxId);
      const elsewhere = uuidv7();
      const colleague = principal({ organizationId, role: 'user', departmentIds: [uuidv7()] });
      const [department] = colleague.departmentIds;
      expect(
        await readersOf(
          organizationId,
          [user, colleague],
          [
            place(uuidv7(), mailboxId),
            place(uuidv7(), mailboxId, department),
            place('', mailboxId),
            place(uuidv7(), elsewhere),
            place(uuidv7(), ''),
            place(uuidv7(), '', department),
            place(conversationId, elsewhere, department),
          ],
        ),
      ).toEqual([
        [user.userId],
        [user.userId, colleague.userId].sort(),
        [user.userId],
        [],
        [],
        [],
        [user.userId],
      ]);
    });

    it('knows nothing of other organizations', async () => {
      const { conversationId } = await mail.receive(organizationId, mailboxId);
      expect(await readersOf(uuidv7(), [user], [place(conversationId, mailboxId)])).toEqual([[]]);
    });
  });

  it('refuses ids that are none', async () => {
    const ask = (changes: object) =>
      findReaders(mail.database, {
        organizationId: uuidv7(),
        places: [place(uuidv7())],
        readers: [{ userId: uuidv7(), departmentIds: [] }],
        ...changes,
      });
    await expect(ask({ organizationId: '' })).rejects.toThrow('organization_id must be a UUID.');
    await expect(ask({ places: [place('x')] })).rejects.toThrow(
      'places.conversation_id must be a UUID.',
    );
    await expect(ask({ readers: [{ userId: '1', departmentIds: [] }] })).rejects.toThrow(
      'readers.user_id must be a UUID.',
    );
  });
});
