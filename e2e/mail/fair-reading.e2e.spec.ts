import { eventually } from '@dak/testing/waiting';
import { describeOnBothRuns } from '../stack/distributed-stack';
import { openSession, sendMail, transact } from '../stack/sending-mail';
import type { Stack } from '../stack/stack';
import { createTenant, type Tenant } from '../stack/tenant';

const VISIBLE_MS = 5_000;
const STRANGER = '127.0.0.66';

/** A megabyte of these takes more than a second to be read. */
const tables = `<table><tr><td>`.repeat(60_000);

describeOnBothRuns('costly mail of a stranger', (start) => {
  let stack: Stack;
  let tenant: Tenant;
  let neighbor: Tenant;

  beforeAll(async () => {
    stack = await start();
    tenant = await createTenant(stack, 'costs');
    neighbor = await createTenant(stack, 'neighbor');
  }, 180_000);
  afterAll(() => stack?.close());

  const costly = (index: number, type: string, body: string) => ({
    from: 'flood@stranger.example',
    to: [tenant.open.address],
    raw: [
      'From: flood@stranger.example',
      `Subject: costly ${index}`,
      `Message-ID: <costly-${index}-${type.length}@stranger.example>`,
      'MIME-Version: 1.0',
      `Content-Type: ${type}`,
      '',
      body,
      '',
    ].join('\r\n'),
  });

  /** Milliseconds from the 250 until the API shows it. */
  const visibleAfter = async (whose: Tenant, to: string, subject: string, client: string) => {
    const reply = await sendMail(stack.smtpPort, {
      to: [to],
      client,
      raw: `From: ada@elsewhere.example\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@elsewhere.example>\r\n\r\nhello\r\n`,
    });
    expect(reply).toMatch(/^250 /);
    const began = performance.now();
    await eventually(`${subject} in its mailbox`, async () => {
      const { body } = await whose.client.get('/conversations?status=all&per_page=100');
      return (body.data as { subject: string }[]).some((one) => one.subject === subject);
    });
    return performance.now() - began;
  };

  it('does not hold up the mail of others, of whatever client and mailbox', async () => {
    const session = await openSession(stack.smtpPort, STRANGER);
    for (let index = 0; index < 20; index += 1) {
      expect(await transact(session, costly(index, 'text/html; charset=utf-8', tables))).toMatch(
        /^250 /,
      );
    }
    const waits = await Promise.all([
      visibleAfter(neighbor, neighbor.open.address, 'other-tenant', '127.0.0.67'),
      visibleAfter(tenant, tenant.closed.address, 'other-mailbox', '127.0.0.68'),
      visibleAfter(tenant, tenant.open.address, 'same-mailbox', '127.0.0.69'),
      visibleAfter(tenant, tenant.closed.address, 'same-client', STRANGER),
    ]);
    session.socket.destroy();
    for (const wait of waits) expect(wait).toBeLessThan(VISIBLE_MS);
  }, 60_000);

  it('is not lost, and text in UTF-7 is shown as it stands', async () => {
    const body = '+AGEAYgBj-'.repeat(1_800_000).replace(/.{70}/g, '$&\r\n');
    const session = await openSession(stack.smtpPort, STRANGER);
    expect(await transact(session, costly(99, 'text/plain; charset=utf-7', body))).toMatch(/^250 /);
    session.socket.destroy();
    expect(
      await visibleAfter(neighbor, neighbor.open.address, 'beside-utf-7', '127.0.0.70'),
    ).toBeLessThan(VISIBLE_MS);
    const found = await eventually(
      'all costly mail',
      async () => {
        const reply = await tenant.client.get(
          `/conversations?mailbox=${tenant.open.id}&status=all&per_page=100`,
        );
        const subjects = (reply.body.data as { subject: string; id: string }[]).filter(
          ({ subject }) => subject.startsWith('costly '),
        );
        return new Set(subjects.map(({ subject }) => subject)).size === 21 && subjects;
      },
      50_000,
    );
    const utf7 = found.find(({ subject }) => subject === 'costly 99')!;
    const messages = await tenant.client.get(`/conversations/${utf7.id}/messages`);
    expect(JSON.stringify(messages.body.data[0])).toContain('+AGEAYgBj-+AGEAYgBj-');
  }, 60_000);
});
