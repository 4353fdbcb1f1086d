import type { OverviewRecord, ReportRecord } from '@dak/contracts/api';
import type { AnalyticsQuery } from '@dak/contracts/mail';
import { uuidv7, type Principal } from '@dak/kernel';
import { createAnalyticsHandlers } from '../src/analytics/handlers';
import { resolveRange } from '../src/analytics/range-store';
import { eventsIn, take } from './analytics-fixtures';
import {
  contextOf,
  insertMailbox,
  openMailDatabase,
  principal,
  type MailDatabase,
} from './mail-fixtures';

const ASHA = { type: 'user', id: uuidv7(), name: 'Asha Rao' };
const NONE = { p50: null, p90: null, mean: null, count: 0 };

describe('analytics', () => {
  let mail: MailDatabase;
  let organizationId: string;
  let admin: Principal;
  let mailbox: { id: string };
  const now = Date.parse('2026-03-10T12:00:00.000Z');

  beforeAll(async () => {
    mail = await openMailDatabase();
  });
  beforeEach(async () => {
    organizationId = uuidv7();
    admin = principal({ organizationId });
    mailbox = await insertMailbox(mail.database, organizationId);
  });
  afterAll(() => mail.close());

  describe('of a conversation that is answered and resolved', () => {
    beforeEach(async () => {
      const events = conversation();
      await take(mail.database, [
        events.received('2026-03-09T09:00:00.000Z', { newConversation: true }),
        events.changed(
          '2026-03-09T09:00:00.100Z',
          { mailbox_id: mailbox.id, status: 'open' },
          {
            reason: 'created',
            isNew: true,
          },
        ),
        events.changed('2026-03-09T09:01:00.000Z', { assignee: ASHA }, { reason: 'assigned' }),
        events.received('2026-03-09T09:02:00.000Z', { kind: 'auto_reply' }),
        events.sent('2026-03-09T09:03:00.000Z', { ...ASHA, type: 'rule' }, { automatic: true }),
        events.sent('2026-03-09T09:10:00.000Z', ASHA),
        events.changed('2026-03-09T09:10:00.100Z', { status: 'waiting' }),
        events.sent('2026-03-09T09:20:00.000Z', ASHA, { attempts: 3 }),
        events.changed('2026-03-09T11:00:00.000Z', { status: 'resolved' }, { actor: ASHA }),
      ]);
    });

    it('counts what happened once', async () => {
      const { totals, as_of, range } = await overview({});
      expect(totals).toEqual({
        received: 2,
        sent: 3,
        failed: 0,
        bounced: 0,
        complained: 0,
        suppressed: 0,
        conversations_opened: 1,
        conversations_resolved: 1,
        backlog: 0,
        first_response_seconds: { p50: 600, p90: 600, mean: 600, count: 1 },
        resolution_seconds: { p50: 7200, p90: 7200, mean: 7200, count: 1 },
      });
      expect(as_of).toBe('2026-03-09T11:00:00.000Z');
      expect(range).toEqual({
        from: '2026-02-09T00:00:00.000Z',
        to: '2026-03-10T12:00:00.000Z',
        granularity: 'day',
        time_zone: 'UTC',
      });
    });

    it('has a bucket for every day and the backlog at its end', async () => {
      const { series } = await overview({});
      expect(series).toHaveLength(30);
      expect(series.map(({ received }) => received)).toEqual([...Array<number>(28).fill(0), 2, 0]);
      expect(series[0]).toMatchObject({
        at: '2026-02-09T00:00:00.000Z',
        first_response_seconds: NONE,
        backlog: 0,
      });
      const { series: hours } = await overview({
        from: '2026-03-09T08:00:00Z',
        to: '2026-03-09T12:00:00Z',
        granularity: 'hour',
      });
      expect(hours.map(({ at, backlog }) => [at.slice(11, 16), backlog])).toEqual([
        ['08:00', 0],
        ['09:00', 1],
        ['10:00', 1],
        ['11:00', 0],
      ]);
    });

    it('knows the backlog of any time that has passed', async () => {
      const { totals } = await overview({
        from: '2026-03-09T00:00:00Z',
        to: '2026-03-09T10:30:00Z',
      });
      expect(totals).toMatchObject({ backlog: 1, conversations_resolved: 0 });
    });

    it('tells whose the conversation was and by whom things were done', async () => {
      const { by_assignee, by_mailbox, by_department } = await overview({});
      expect(by_assignee).toMatchObject([
        { assignee: ASHA, received: 1, sent: 3, conversations_resolved: 1 },
        { assignee: null, received: 1, conversations_opened: 1 },
      ]);
      expect(by_mailbox).toMatchObject([{ mailbox_id: mailbox.id, received: 2 }]);
      expect(by_department).toMatchObject([{ department_id: null, received: 2 }]);
      const workload = await report('workload', {});
      expect(workload.rows).toMatchObject([
        { type: 'rule', messages_sent: 1, first_response_count: 0 },
        {
          type: 'user',
          id: ASHA.id,
          name: 'Asha Rao',
          messages_sent: 2,
          first_response_count: 1,
          first_response_seconds_p50: 600,
          conversations_resolved: 1,
          received_assigned: 1,
          backlog_assigned: 0,
        },
        { type: null, name: 'Nobody', received_assigned: 1 },
      ]);
    });

    it('narrows by assignee, mailbox and department', async () => {
      expect((await overview({ assignee: 'none' })).totals).toMatchObject({ received: 1, sent: 0 });
      expect((await overview({ assignee: ASHA.id })).totals).toMatchObject({
        received: 1,
        sent: 3,
      });
      expect((await overview({ mailboxId: uuidv7() })).totals).toMatchObject({ received: 0 });
      expect((await overview({ departmentId: uuidv7() })).totals).toMatchObject({ received: 0 });
    });
  });

  it('interpolates percentiles and measures every resolution from the last opening', async () => {
    for (const minutes of [1, 2, 3, 4, 10]) {
      const events = conversation();
      const at = (minute: number) => new Date(now - 86_400_000 + minute * 60_000).toISOString();
      await take(mail.database, [
        events.received(at(0), { newConversation: true }),
        events.sent(at(minutes), ASHA),
        events.changed(at(20), { status: 'resolved' }),
        events.changed(at(30), { status: 'open' }),
        events.changed(at(35), { status: 'resolved' }),
        events.changed(at(40), { status: 'closed' }),
      ]);
    }
    const { totals } = await overview({});
    expect(totals.first_response_seconds).toEqual({ p50: 180, p90: 456, mean: 240, count: 5 });
    expect(totals.resolution_seconds).toEqual({ p50: 750, p90: 1200, mean: 750, count: 10 });
    expect(totals).toMatchObject({
      conversations_opened: 5,
      conversations_resolved: 10,
      backlog: 0,
    });
    const volume = await report('volume', { granularity: 'month' });
    expect(volume.rows.at(-1)).toMatchObject({ conversations_reopened: 5 });
  });

  it('moves the backlog with department and assignee, and leaves spam and trash out', async () => {
    const [sales, support] = [uuidv7(), uuidv7()];
    const events = conversation({ departmentId: sales });
    await take(mail.database, [
      events.received('2026-03-01T10:00:00.000Z', { newConversation: true }),
      events.changed('2026-03-02T10:00:00.000Z', { department_id: support }),
    ]);
    const ofDepartments = async (to: string) =>
      (await overview({ from: '2026-03-01', to })).by_department.map((row) => [
        row.department_id,
        row.backlog,
      ]);
    expect(await ofDepartments('2026-03-01')).toEqual([[sales, 1]]);
    expect(await ofDepartments('2026-03-02')).toEqual([
      [sales, 0],
      [support, 1],
    ]);
    await take(mail.database, [
      events.changed('2026-03-03T10:00:00.000Z', { disposition: 'spam' }),
    ]);
    expect((await overview({ to: '2026-03-02' })).totals.backlog).toBe(1);
    expect((await overview({ to: '2026-03-03' })).totals.backlog).toBe(0);
  });

  it('follows merges and splits', async () => {
    const [kept, source] = [conversation(), conversation()];
    await take(mail.database, [
      kept.received('2026-03-01T10:00:00.000Z', { newConversation: true }),
      kept.sent('2026-03-01T10:05:00.000Z', ASHA),
      source.received('2026-03-01T11:00:00.000Z', { newConversation: true }),
      source.changed(
        '2026-03-01T12:00:00.000Z',
        { merged_into_id: uuidv7() },
        { reason: 'merged' },
      ),
      kept.changed(
        '2026-03-01T12:00:00.000Z',
        { waiting_since: '2026-03-01T11:00:00.000Z' },
        {
          reason: 'merged',
        },
      ),
      kept.sent('2026-03-01T13:00:00.000Z', ASHA),
    ]);
    const merged = (await overview({})).totals;
    expect(merged).toMatchObject({
      conversations_opened: 2,
      conversations_resolved: 0,
      backlog: 1,
    });
    expect(merged.first_response_seconds).toMatchObject({ count: 1, p50: 300 });

    const part = conversation();
    await take(mail.database, [
      part.changed(
        '2026-03-02T10:00:00.000Z',
        {
          mailbox_id: mailbox.id,
          status: 'open',
          disposition: 'normal',
          department_id: null,
          waiting_since: '2026-03-02T09:00:00.000Z',
        },
        { reason: 'split', isNew: true },
      ),
      part.sent('2026-03-02T10:30:00.000Z', ASHA),
    ]);
    const split = (await overview({ from: '2026-03-02' })).totals;
    expect(split).toMatchObject({ conversations_opened: 1, backlog: 2 });
    expect(split.first_response_seconds).toMatchObject({ count: 1, p50: 5400 });
  });

  it('keeps imported mail out of volumes and times, and in the backlog while it is work', async () => {
    const [unread, archived] = [conversation(), conversation()];
    await take(mail.database, [
      unread.received('2026-03-01T10:00:00.000Z', { newConversation: true, imported: true }),
      unread.sent('2026-03-01T11:00:00.000Z', ASHA),
      archived.received('2026-03-01T10:00:00.000Z', {
        newConversation: true,
        imported: true,
        conversationStatus: 'resolved',
      }),
    ]);
    const { totals } = await overview({});
    expect(totals).toMatchObject({ received: 0, sent: 1, conversations_opened: 0, backlog: 1 });
    expect(totals.first_response_seconds.count).toBe(0);
    const volume = await report('volume', { granularity: 'month' });
    expect(volume.rows.at(-1)).toMatchObject({ received: 0, imported: 2 });
  });

  it('counts what becomes of mail that leaves, and how mail that came was authenticated', async () => {
    const events = conversation();
    await take(mail.database, [
      events.received('2026-03-01T10:00:00.000Z', { spf: 'pass', dkim: 'fail', dmarc: 'none' }),
      events.sent('2026-03-01T10:01:00.000Z', ASHA, { attempts: 2 }),
      events.failed('2026-03-01T10:02:00.000Z', 'refused'),
      events.failed('2026-03-01T10:03:00.000Z', 'expired', 9),
      events.failed('2026-03-01T10:04:00.000Z', 'suppressed'),
      events.bounced('2026-03-01T10:05:00.000Z', true),
      events.bounced('2026-03-01T10:06:00.000Z', false),
      events.bounced('2026-03-01T10:06:00.000Z', false, 'delayed'),
      events.complained('2026-03-01T10:07:00.000Z'),
      events.complained('2026-03-01T10:08:00.000Z', 'not-spam'),
    ]);
    const { rows, columns } = await report('deliverability', {
      from: '2026-03-01',
      to: '2026-03-01',
    });
    expect(rows).toEqual([
      {
        at: '2026-03-01T00:00:00.000Z',
        sent: 1,
        deferred: 2,
        failed: 2,
        suppressed: 1,
        bounced_hard: 1,
        bounced_soft: 1,
        complained: 1,
        spf_pass: 1,
        spf_fail: 0,
        spf_other: 0,
        dkim_pass: 0,
        dkim_fail: 1,
        dkim_other: 0,
        dmarc_pass: 0,
        dmarc_fail: 0,
        dmarc_other: 1,
      },
    ]);
    expect(columns).toEqual(Object.keys(rows[0]!));
    expect((await overview({})).totals).toMatchObject({ failed: 2, bounced: 2, suppressed: 1 });
  });

  it('takes a repeated event for what it is', async () => {
    const events = conversation();
    const history = [
      events.received('2026-03-01T10:00:00.000Z', { newConversation: true }),
      events.sent('2026-03-01T10:10:00.000Z', ASHA),
    ];
    await take(mail.database, [history[0]!, history[0]!]);
    await take(mail.database, history);
    await take(mail.database, history);
    expect((await overview({})).totals).toMatchObject({ received: 1, sent: 1, backlog: 1 });
  });

  describe('in a time zone', () => {
    it('begins days and hours of India at the half hour of UTC', async () => {
      const events = conversation();
      await take(mail.database, [
        events.received('2026-03-01T18:29:59.999Z'),
        events.received('2026-03-01T18:30:00.000Z'),
      ]);
      const days = await overview({
        from: '2026-03-01',
        to: '2026-03-02',
        timeZone: 'Asia/Kolkata',
      });
      expect(days.range).toMatchObject({
        from: '2026-02-28T18:30:00.000Z',
        to: '2026-03-02T18:30:00.000Z',
      });
      expect(days.series.map(({ at, received }) => [at, received])).toEqual([
        ['2026-02-28T18:30:00.000Z', 1],
        ['2026-03-01T18:30:00.000Z', 1],
      ]);
      const hours = await overview({
        from: '2026-03-01T17:30:00Z',
        to: '2026-03-01T19:30:00Z',
        granularity: 'hour',
        timeZone: 'Asia/Kolkata',
      });
      expect(hours.series.map(({ at, received }) => [at, received])).toEqual([
        ['2026-03-01T17:30:00.000Z', 1],
        ['2026-03-01T18:30:00.000Z', 1],
      ]);
    });

    it.each([
      ['2026-03-29', 23, '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
      ['2026-10-25', 25, '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
    ])('gives the day %s in Berlin %i hours', async (date, hours, from, to) => {
      const query = { from: date, to: date, timeZone: 'Europe/Berlin' };
      const byHour = await overview({ ...query, granularity: 'hour' });
      expect(byHour.range).toMatchObject({ from, to });
      expect(byHour.series).toHaveLength(hours);
      const starts = byHour.series.map(({ at }) => Date.parse(at));
      expect(starts.slice(1).every((at, index) => at - starts[index]! === 3_600_000)).toBe(true);
      const byDay = await overview({ ...query, from: previousDay(date), granularity: 'day' });
      expect(byDay.series).toHaveLength(2);
      expect(byDay.series[1]!.at).toBe(from);
    });

    it('begins weeks on Monday and months on the first', async () => {
      const query = { from: '2026-02-27', to: '2026-03-10', timeZone: 'America/New_York' };
      const weeks = await overview({ ...query, granularity: 'week' });
      expect(weeks.series.map(({ at }) => at)).toEqual([
        '2026-02-23T05:00:00.000Z',
        '2026-03-02T05:00:00.000Z',
        '2026-03-09T04:00:00.000Z',
      ]);
      const months = await overview({ ...query, granularity: 'month' });
      expect(months.series.map(({ at }) => at)).toEqual([
        '2026-02-01T05:00:00.000Z',
        '2026-03-01T05:00:00.000Z',
      ]);
    });

    it('is that of the organization unless another is asked for', async () => {
      await mail.database.inTenant(organizationId, (tx) =>
        tx.query(
          `insert into organization (organization_id, name, time_zone, updated_at)
           values ($1, 'Works', 'Asia/Kathmandu', now())`,
          [organizationId],
        ),
      );
      const { range } = await overview({ from: '2026-03-01', to: '2026-03-01' });
      expect(range).toMatchObject({
        time_zone: 'Asia/Kathmandu',
        from: '2026-02-28T18:15:00.000Z',
      });
    });
  });

  describe('asked for what it cannot answer', () => {
    it.each([
      [{ from: '2026-03-02', to: '2026-03-01' }, 'from must be before to.'],
      [{ from: '2020-01-01T00:00:00Z', granularity: 'hour' }, 'more than 10000 times'],
      [{ from: '1900-01-01T00:00:00Z', granularity: 'day' }, 'more than 10000 times'],
      [{ from: '2026-02-30' }, 'from must be'],
      [{ to: 'yesterday' }, 'to must be'],
      [{ timeZone: '+05:30' }, 'time_zone must be'],
      [{ timeZone: 'Mars/Olympus' }, 'time_zone must be'],
      [{ granularity: 'year' }, 'granularity must be one of "hour", "day", "week", "month".'],
      [{ mailboxId: 'x' }, 'mailbox must be'],
      [{ assignee: 'x' }, 'assignee must be'],
    ])('refuses %j', async (query, sentence) => {
      await expect(overview(query)).rejects.toMatchObject({
        kind: 'invalid',
        message: expect.stringContaining(sentence),
      });
    });

    it.each([
      ['day', null],
      ['day', { time: '2026-03-01T00:00:00Z' }],
      ['hour', { time: '2026-03-01T00:00:00Z' }],
    ] as const)(
      'refuses a time zone that only Node knows, by %s from %j',
      async (granularity, from) => {
        const query = {
          from,
          to: { time: '2026-03-02T00:00:00Z' },
          granularity,
          timeZone: 'No/Where',
        };
        await expect(
          mail.database.inTenant(organizationId, (tx) =>
            resolveRange(tx, organizationId, query, now),
          ),
        ).rejects.toMatchObject({ kind: 'invalid', message: expect.stringContaining('time_zone') });
      },
    );

    it('knows no other reports', async () => {
      await expect(report('secrets', {})).rejects.toMatchObject({ kind: 'not_found' });
    });
  });

  describe('for a user', () => {
    const department = uuidv7();
    const user = () =>
      principal({ organizationId, role: 'user', departmentIds: [department], userId: ASHA.id });

    it('covers the mailboxes that are open to them and the conversations of their departments, as of now', async () => {
      const other = await insertMailbox(mail.database, organizationId);
      const [own, foreign, moved] = [
        conversation(),
        conversation({ mailboxId: other.id }),
        conversation({ mailboxId: other.id }),
      ];
      await take(mail.database, [
        own.received('2026-03-01T10:00:00.000Z', { newConversation: true }),
        foreign.received('2026-03-01T10:00:00.000Z', { newConversation: true }),
        moved.received('2026-03-01T10:00:00.000Z', { newConversation: true }),
        moved.sent('2026-03-01T11:00:00.000Z', ASHA),
      ]);
      expect((await overview({}, user())).totals).toMatchObject({ received: 0, backlog: 0 });
      await assign(mailbox.id);
      expect((await overview({}, user())).totals).toMatchObject({
        received: 1,
        backlog: 1,
        sent: 0,
      });

      await take(mail.database, [
        moved.changed('2026-03-02T10:00:00.000Z', { department_id: department }),
      ]);
      const shown = await overview({}, user());
      expect(shown.totals).toMatchObject({ received: 2, backlog: 2, sent: 1 });
      expect(shown.by_mailbox.map((row) => [row.mailbox_id, row.received]).sort()).toEqual(
        [
          [mailbox.id, 1],
          [other.id, 1],
        ].sort(),
      );
      await take(mail.database, [
        moved.changed('2026-03-03T10:00:00.000Z', { department_id: null }),
      ]);
      expect((await overview({}, user())).totals).toMatchObject({
        received: 1,
        backlog: 1,
        sent: 0,
      });
      expect((await overview({})).totals).toMatchObject({ received: 3, backlog: 3 });
    });

    it('follows a merged conversation to where it went', async () => {
      const other = await insertMailbox(mail.database, organizationId);
      const keptId = uuidv7();
      const kept = conversation({
        mailboxId: other.id,
        conversationId: keptId,
        departmentId: department,
      });
      const source = conversation({ mailboxId: other.id });
      await take(mail.database, [
        kept.received('2026-03-01T10:00:00.000Z', { newConversation: true }),
        source.received('2026-03-01T10:00:00.000Z', { newConversation: true }),
      ]);
      expect((await overview({}, user())).totals).toMatchObject({ received: 1, backlog: 1 });
      await take(mail.database, [
        source.changed(
          '2026-03-01T12:00:00.000Z',
          { merged_into_id: keptId },
          { reason: 'merged' },
        ),
      ]);
      expect((await overview({}, user())).totals).toMatchObject({ received: 2, backlog: 1 });
    });

    it('shows nothing of a mailbox that is deleted, nor of another organization', async () => {
      await assign(mailbox.id);
      const events = conversation({ departmentId: department });
      await take(mail.database, [
        events.received('2026-03-01T10:00:00.000Z', { newConversation: true }),
        events.sent('2026-03-01T11:00:00.000Z', ASHA),
      ]);
      const stranger = { ...user(), organizationId: uuidv7() };
      expect((await overview({}, stranger)).totals).toMatchObject({ received: 0, backlog: 0 });
      await mail.database.inTenant(organizationId, (tx) =>
        tx.query('update mailbox set deleted_at = now() where id = $1', [mailbox.id]),
      );
      const { totals, by_assignee } = await overview({}, user());
      expect(totals).toMatchObject({ received: 0, sent: 0, backlog: 0 });
      expect(by_assignee).toEqual([]);
      const { rows } = await report('workload', {}, user());
      expect(rows).toEqual([]);
      expect((await overview({})).totals).toMatchObject({ received: 1 });
    });
  });

  function conversation(
    place: { mailboxId?: string; departmentId?: string; conversationId?: string } = {},
  ) {
    return eventsIn({
      organizationId,
      mailboxId: mailbox.id,
      conversationId: uuidv7(),
      ...place,
    });
  }

  async function overview(query: AnalyticsQuery, caller = admin): Promise<OverviewRecord> {
    const handlers = createAnalyticsHandlers({ database: mail.database, clock: () => now });
    const { json } = await handlers.getOverview({ query }, contextOf(caller));
    return JSON.parse(json.toString()) as OverviewRecord;
  }

  async function report(
    name: string,
    query: AnalyticsQuery,
    caller = admin,
  ): Promise<ReportRecord> {
    const handlers = createAnalyticsHandlers({ database: mail.database, clock: () => now });
    const { json } = await handlers.getReport({ report: name, query }, contextOf(caller));
    return JSON.parse(json.toString()) as ReportRecord;
  }

  function assign(mailboxId: string) {
    return mail.database.inTenant(organizationId, (tx) =>
      tx.query(
        'insert into mailbox_user (organization_id, mailbox_id, user_id) values ($1, $2, $3)',
        [organizationId, mailboxId, ASHA.id],
      ),
    );
  }
});

function previousDay(date: string): string {
  return new Date(Date.parse(date) - 86_400_000).toISOString().slice(0, 10);
}
