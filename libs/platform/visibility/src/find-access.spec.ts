import { findAccess, type Place, type VisibilityClient } from './find-access';

const place = (conversationId: string, change: Partial<Place> = {}): Place => ({
  conversationId,
  mailboxId: 'm1',
  departmentId: null,
  ...change,
});
const reader = (userId: string) => ({ userId, departmentIds: ['d1'] });

type Question = Parameters<VisibilityClient['findReaders']>;

/** Opens `user/conversation` for reading, `user/conversation/mailbox` for sending. */
function mailService(...open: readonly string[]) {
  const asked: Question[] = [];
  const visibility: VisibilityClient = {
    async findReaders(...question) {
      asked.push(question);
      const [{ places, readers }] = question;
      const ids = readers.map(({ userId }) => userId);
      return {
        places: places.map(({ conversationId, mailboxId }) => ({
          userIds: ids.filter((id) => open.includes(`${id}/${conversationId}`)),
          senderIds: ids.filter((id) => open.includes(`${id}/${conversationId}/${mailboxId}`)),
        })),
      };
    },
  };
  return { asked, visibility };
}

describe('who may read what happened', () => {
  it('is asked once for all places and people, each named once', async () => {
    const { asked, visibility } = mailService('u1/c1', 'u2/c2');
    const places = [place('c1'), place('c1'), place('c2')];
    const readers = [reader('u1'), reader('u2'), reader('u1')];
    const mayRead = await findAccess(visibility, 'o', places, readers, '00-trace');
    expect(asked).toHaveLength(1);
    const [request, options] = asked[0]!;
    expect(request).toEqual({
      organizationId: 'o',
      places: [
        { conversationId: 'c1', mailboxId: 'm1' },
        { conversationId: 'c2', mailboxId: 'm1' },
      ],
      readers: [reader('u1'), reader('u2')],
    });
    expect(options).toMatchObject({ principal: null, isRead: true, traceparent: '00-trace' });
    expect(mayRead(place('c1'), 'u1')).toBe(true);
    expect(mayRead(place('c2'), 'u1')).toBe(false);
    expect(mayRead(place('c2'), 'u2')).toBe(true);
    expect(mayRead(place('c3'), 'u1')).toBe(false);
  });

  it('is another question from who may send there', async () => {
    const { visibility } = mailService('u1/c1', 'u2/c1', 'u2/c1/m1');
    const readers = [reader('u1'), reader('u2')];
    const mayRead = await findAccess(visibility, 'o', [place('c1')], readers);
    expect(mayRead(place('c1'), 'u1', true)).toBe(false);
    expect(mayRead(place('c1'), 'u2', true)).toBe(true);
  });

  it('goes by mailbox and department of what happened, where two differ', async () => {
    const { visibility, asked } = mailService('u1/c1/m2');
    const moved = place('c1', { mailboxId: 'm2', departmentId: 'd1' });
    const mayRead = await findAccess(visibility, 'o', [place('c1'), moved], [reader('u1')]);
    expect(asked[0]![0].places).toEqual([
      { conversationId: 'c1', mailboxId: 'm1' },
      { conversationId: 'c1', mailboxId: 'm2', departmentId: 'd1' },
    ]);
    expect(mayRead(moved, 'u1', true)).toBe(true);
    expect(mayRead(place('c1'), 'u1', true)).toBe(false);
  });

  it('needs no question without places or without regular users', async () => {
    const { asked, visibility } = mailService();
    await findAccess(visibility, 'o', [], [reader('u1')]);
    const mayRead = await findAccess(visibility, 'o', [place('c1')], []);
    expect(mayRead(place('c1'), 'u1')).toBe(false);
    expect(asked).toHaveLength(0);
  });

  it('is asked in parts that the mail service takes', async () => {
    const open = ['u2001/c0', 'u0/c500'];
    const { asked, visibility } = mailService(...open);
    const places = Array.from({ length: 501 }, (_, i) => place(`c${i}`));
    const readers = Array.from({ length: 2_002 }, (_, i) => reader(`u${i}`));
    const mayRead = await findAccess(visibility, 'o', places, readers);
    expect(asked.map(([{ places, readers }]) => [places.length, readers.length])).toEqual([
      [500, 2_000],
      [500, 2],
      [1, 2_000],
      [1, 2],
    ]);
    expect(mayRead(place('c0'), 'u2001')).toBe(true);
    expect(mayRead(place('c500'), 'u0')).toBe(true);
    expect(mayRead(place('c500'), 'u2001')).toBe(false);
  });
});
