import type { ApiClient } from '@dak/testing/api-client';
import { StreamClient } from '@dak/testing/event-stream';
import { startNameServer, type NameServer, type Zone } from '@dak/testing/name-server';
import { eventually } from '@dak/testing/waiting';
import { describeOnBothRuns } from '../stack/distributed-stack';
import { sendMail } from '../stack/sending-mail';
import type { Stack } from '../stack/stack';
import { createKey, signIn, superadminSession } from '../stack/tenant';

interface Organization {
  id: string;
  /** The admin's session. */
  client: ApiClient;
  session: string;
}

const PASSWORD = 'a long enough password';

describeOnBothRuns('domains', (startStack) => {
  const zone: Zone = new Map();
  let names: NameServer;
  let stack: Stack;
  let platform: ApiClient;
  let count = 0;

  beforeAll(async () => {
    names = await startNameServer(zone);
    stack = await startStack({ dnsServers: names.address });
    platform = stack.client(await superadminSession(stack));
  }, 60_000);
  afterAll(async () => {
    await stack.close();
    await names.close();
  });

  const unique = (): string => `d${(count += 1)}-${Date.now().toString(36)}`;
  const found = async (organization: Organization) => {
    const { body } = await organization.client.get('/domains');
    return (body.data as { name: string; status: string }[]).map(
      ({ name, status }) => `${name} ${status}`,
    );
  };

  async function organization(...domains: string[]): Promise<Organization> {
    const made = await platform.post('/admin/organizations', newOrganization(domains));
    expect([made.status, made.body.domains]).toEqual([201, [...domains].sort()]);
    return signedIn(made.body);
  }

  function newOrganization(domains: readonly string[], marker = unique()): object {
    const admin = { email: `a@${marker}.example`, display_name: 'Admin', password: PASSWORD };
    return { name: marker, admin, domains };
  }

  async function signedIn(made: {
    id: string;
    admin: { id: string; email: string };
  }): Promise<Organization> {
    const { session } = await signIn(stack, made.admin, PASSWORD);
    return { id: made.id, client: stack.client(session), session };
  }

  /** A pending domain, with the record that proves it. */
  async function pending({ client }: Organization, name: string) {
    const { status, body } = await client.post('/domains', { name });
    expect([status, body.status]).toEqual([201, 'pending']);
    const record = body.records[0] as { name: string; value: string };
    return { id: body.id as string, record };
  }

  const grant = (organizationId: string, domains: string[]) =>
    platform.put(`/admin/organizations/${organizationId}/domains`, { domains });

  async function mailbox({ client }: Organization, address: string): Promise<string> {
    const { status, body } = await client.post('/mailboxes', { address });
    expect([status, body.error]).toEqual([201, undefined]);
    return body.id;
  }

  async function refused(client: ApiClient, address: string): Promise<void> {
    const { status, headers } = await client.post('/mailboxes', { address });
    expect([address, status, headers.get('x-error-code')]).toEqual([
      address,
      422,
      'domain_not_owned',
    ]);
  }

  const deliver = (address: string, subject: string): Promise<string> =>
    sendMail(stack.smtpPort, {
      to: [address],
      raw: `From: ada@elsewhere.example\r\nTo: ${address}\r\nSubject: ${subject}\r\nMessage-ID: <${unique()}@elsewhere.example>\r\n\r\n.\r\n`,
    });

  /** Subjects of what came into a mailbox, once there are so many. */
  const received = ({ client }: Organization, mailboxId: string, atLeast: number) =>
    eventually(`${atLeast} conversations in ${mailboxId}`, async () => {
      const { body } = await client.get(`/conversations?mailbox=${mailboxId}&status=all`);
      const subjects = (body.data as { subject: string }[]).map(({ subject }) => subject);
      return subjects.length >= atLeast && subjects.sort();
    });

  const compose = ({ client }: Organization, mailboxId: string, fields: object) =>
    client.post('/compose/send', {
      mailbox_id: mailboxId,
      subject: 'An offer',
      body_text: 'Dear customer',
      ...fields,
    });

  /** What became of the one recipient, once that is final. */
  const outcome = ({ client }: Organization, sent: { body: Record<string, string> }) =>
    eventually(`the end of ${JSON.stringify(sent.body)}`, async () => {
      const { conversation_id: conversation, id } = sent.body;
      const { body } = await client.get(`/conversations/${conversation}/messages/${id}`);
      const delivery = body.delivery?.recipients[0];
      return /^(sent|failed|canceled|bounced)$/.test(delivery?.status ?? '') && delivery;
    });

  it('belong to whoever shows the record first, and to nobody while they are pending', async () => {
    const [first, second] = [await organization(), await organization()];
    const name = `${unique()}.example`;
    const mine = await pending(first, `${name.toUpperCase()}.`);
    const theirs = await pending(second, name);
    expect(mine.record).toMatchObject({ purpose: 'ownership', type: 'TXT', status: 'missing' });
    expect(mine.record.value).not.toBe(theirs.record.value);
    await refused(first.client, `info@${name}`);
    expect(await deliver(`info@${name}`, 'Too early')).toMatch(/^550/);

    const verify = () => first.client.post(`/domains/${mine.id}/verify`);
    const looks = [
      [undefined, 'missing', null],
      [[], 'missing', null],
      [['v=spf1 -all', theirs.record.value], 'invalid', 'v=spf1 -all'],
      ['fails', 'temporary_failure', null],
      ['silent', 'temporary_failure', null],
    ] as const;
    for (const [answer, status, value] of looks) {
      zone.delete(mine.record.name);
      if (answer !== undefined) zone.set(mine.record.name, answer);
      const startedAt = performance.now();
      const { status: code, body } = await verify();
      expect([code, body.status]).toEqual([200, 'pending']);
      expect(body.records[0]).toMatchObject({ status, found_value: value });
      expect(performance.now() - startedAt).toBeLessThan(9_000);
    }
    await refused(first.client, `info@${name}`);

    const stream = new StreamClient(stack.siteUrl, first.session);
    const foreign = new StreamClient(stack.siteUrl, second.session);
    await Promise.all([stream.ready(), foreign.ready()]);
    zone.set(mine.record.name, ['v=spf1 -all', mine.record.value, theirs.record.value]);
    const { body } = await verify();
    expect(body).toMatchObject({ name, status: 'verified', records: [{ status: 'valid' }] });
    const verified = (from: StreamClient) =>
      from.events().filter(({ type }) => type === 'domain.verified');
    await stream.until('domain.verified', () => verified(stream).length > 0);
    expect(verified(stream)[0]).toMatchObject({
      type: 'domain.verified',
      data: { domain: name, domain_id: mine.id, records: ['ownership'], mailbox_id: null },
    });
    expect((await verify()).body.status).toBe('verified');

    const late = await second.client.post(`/domains/${theirs.id}/verify`);
    const third = await organization();
    const later = await third.client.post('/domains', { name });
    const again = await first.client.post('/domains', { name });
    for (const { status, headers } of [late, later, again]) {
      expect([status, headers.get('x-error-code')]).toEqual([409, 'domain_taken']);
    }
    expect(await found(second)).toEqual([`${name} pending`]);
    const id = await mailbox(first, `info@${name}`);
    for (const address of [`info@sub.${name}`, 'info@elsewhere.example']) {
      await refused(first.client, address);
      const patched = await first.client.patch(`/mailboxes/${id}`, { address });
      expect([patched.status, patched.headers.get('x-error-code')]).toEqual([
        422,
        'domain_not_owned',
      ]);
    }
    await refused(second.client, `other@${name}`);
    expect(await deliver(`info@${name}`, 'In time')).toMatch(/^250/);
    expect(await received(first, id, 1)).toEqual(['In time']);
    expect([verified(stream).length, foreign.events().length]).toEqual([1, 0]);
    stream.kill();
    foreign.kill();
    const { body: audit } = await first.client.get('/audit?per_page=100');
    const entries = audit.data as { action: string; target: { id: string } }[];
    const noted = entries.filter(({ target }) => target.id === mine.id).map((one) => one.action);
    expect(noted.sort()).toEqual(['domain.created', 'domain.updated']);
  }, 60_000);

  it('are won by one of many who verify at the same time', async () => {
    const name = `${unique()}.example`;
    const all = await Promise.all(Array.from({ length: 4 }, () => organization()));
    const wanted = await Promise.all(all.map((one) => pending(one, name)));
    zone.set(
      wanted[0]!.record.name,
      wanted.map(({ record }) => record.value),
    );
    const replies = await Promise.all(
      all.flatMap(({ client }, index) =>
        [1, 2].map(() => client.post(`/domains/${wanted[index]!.id}/verify`)),
      ),
    );
    const statuses = replies.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 200, 409, 409, 409, 409, 409, 409]);
    const owners = (await Promise.all(all.map(found))).filter(
      ([one]) => one === `${name} verified`,
    );
    expect(owners).toHaveLength(1);
  });

  it('keep mail to and from their addresses with their owner', async () => {
    const name = `${unique()}.example`;
    const [owner, other] = [await organization(name), await organization(`${unique()}.example`)];
    const support = await mailbox(owner, `support@${name}`);
    for (const address of [
      `support@${name}`,
      `support+billing@${name}`,
      `postmaster@${name}`,
      `zz@${name}`,
      `x@sub.${name}`,
      'ceo@bigcustomer.example',
    ]) {
      await refused(other.client, address);
    }
    for (const detail of ['support+billing', 'postmaster', 'SUPPORT+x+y']) {
      expect(await deliver(`${detail}@${name}`, detail)).toMatch(/^250/);
    }
    expect(await received(owner, support, 3)).toEqual([
      'SUPPORT+x+y',
      'postmaster',
      'support+billing',
    ]);
    const vip = await mailbox(owner, `support+vip@${name}`);
    expect(await deliver(`support+vip@${name}`, 'Exact')).toMatch(/^250/);
    expect(await received(owner, vip, 1)).toEqual(['Exact']);
    expect(await deliver(`nobody@${name}`, 'No')).toMatch(/^550/);
    const sent = await compose(owner, support, {
      to: ['ceo@bigcustomer.example'],
      undo_seconds: 0,
    });
    expect(sent.status).toBe(201);
    expect((await outcome(owner, sent)).status).toBe('sent');
  });

  it('are for admins, and answer to nobody else', async () => {
    const name = `${unique()}.example`;
    const [owner, other] = [await organization(name), await organization()];
    const { body: person } = await owner.client.post('/settings/users', {
      email: `m@${name}`,
      display_name: 'Member',
      password: PASSWORD,
      role: 'user',
      department_ids: [],
    });
    const member = stack.client((await signIn(stack, person, PASSWORD)).session);
    const { key } = await createKey(owner.client, 'all but domains', ['mail.read', 'admin.manage']);
    const { body } = await owner.client.get('/domains');
    const { id } = body.data[0];
    for (const client of [member, stack.client(key)]) {
      expect((await client.get('/domains')).status).toBe(403);
      expect((await client.post('/domains', { name: 'x.example' })).status).toBe(403);
      expect((await client.post(`/domains/${id}/verify`)).status).toBe(403);
    }
    for (const client of [other.client, platform]) {
      expect((await client.get(`/domains/${id}`)).status).toBe(404);
      expect((await client.post(`/domains/${id}/verify`)).status).toBe(404);
      expect((await client.delete(`/domains/${id}`)).status).toBe(404);
    }
    expect(
      (await owner.client.put(`/admin/organizations/${owner.id}/domains`, { domains: [] })).status,
    ).toBe(403);
    for (const wrong of ['com', 'x', 'no name.example', 'a_b.example', '127.0.0.1', '-a.example']) {
      expect([wrong, (await owner.client.post('/domains', { name: wrong })).status]).toEqual([
        wrong,
        400,
      ]);
      expect([wrong, (await grant(owner.id, [wrong])).status]).toEqual([wrong, 400]);
    }
    const idn = await owner.client.post('/domains', { name: `BÜCHER-${name}` });
    expect(idn.body.name).toBe(`xn--${idn.body.name.slice(4)}`);
  });

  it('go to an organization as it is made, to one of two', async () => {
    const name = `${unique()}.example`;
    const [marker, email] = [unique(), unique()];
    const replies = await Promise.all([
      platform.post('/admin/organizations', newOrganization([name], marker)),
      platform.post('/admin/organizations', newOrganization([name], email)),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409]);
    const won = replies.find(({ status }) => status === 201)!;
    const lost = replies.find(({ status }) => status === 409)!;
    expect(lost.headers.get('x-error-code')).toBe('domain_taken');
    expect(await found(await signedIn(won.body))).toEqual([`${name} verified`]);
    // Nothing is left of the other: its admin's address and its other domains are free.
    const free = `${unique()}.example`;
    const rest = replies[0] === won ? email : marker;
    expect(
      (await platform.post('/admin/organizations', newOrganization([free, name], rest))).status,
    ).toBe(409);
    expect(
      (
        await platform.post('/admin/organizations', {
          ...newOrganization([free], rest),
          admin: { email: 'no' },
        })
      ).status,
    ).toBe(400);
    const key = { 'Idempotency-Key': unique() };
    const wanted = newOrganization([free], rest);
    const made = await platform.post('/admin/organizations', wanted, key);
    const repeated = await platform.post('/admin/organizations', wanted, key);
    expect([made.status, repeated.status]).toEqual([201, 201]);
    expect(repeated.body).toEqual(made.body);
    // The key was used for another request: what that one wanted is free.
    const unused = `${unique()}.example`;
    const refusal = await platform.post('/admin/organizations', newOrganization([unused]), key);
    expect(refusal.status).toBe(422);
    expect(await found(await organization(unused))).toEqual([`${unused} verified`]);
  });

  it('are lost and given by the word of a superadmin', async () => {
    const name = `${unique()}.example`;
    const [former, next] = [await organization(name), await organization()];
    const box = await mailbox(former, `sales@${name}`);
    const other = await pending(former, `${unique()}.example`);
    expect(await deliver(`sales@${name}`, 'Before')).toMatch(/^250/);
    await received(former, box, 1);
    const waiting = await compose(former, box, { to: ['c@customer.example'], undo_seconds: 6 });
    const draft = await former.client.post('/drafts', {
      mailbox_id: box,
      to: ['c@customer.example'],
      subject: 'Later',
      body_text: 'x',
    });
    const { body: list } = await former.client.get(`/conversations?mailbox=${box}`);
    const conversation = (list.data as { id: string; subject: string }[]).find(
      ({ subject }) => subject === 'Before',
    )!;

    const taken = await grant(next.id, [name]);
    expect([taken.status, taken.headers.get('x-error-code')]).toEqual([409, 'domain_taken']);
    expect(await found(next)).toEqual([]);
    expect((await grant(former.id, [])).status).toBe(200);
    expect(await deliver(`sales@${name}`, 'Lost')).toMatch(/^550/);
    expect(await deliver(`postmaster@${name}`, 'Lost')).toMatch(/^550/);
    for (const { status, headers } of [
      await compose(former, box, { to: ['c@customer.example'] }),
      await former.client.post(`/conversations/${conversation.id}/reply`, { body_text: 'x' }),
      await former.client.post(`/conversations/${conversation.id}/forward`, {
        to: ['c@customer.example'],
      }),
      await former.client.post(`/drafts/${draft.body.id}/send`),
    ]) {
      expect([status, headers.get('x-error-code')]).toEqual([422, 'domain_not_owned']);
    }
    const failed = await outcome(former, waiting);
    expect(failed).toMatchObject({ status: 'failed' });

    const given = await grant(next.id, [name]);
    expect([given.status, given.body]).toEqual([
      200,
      { organization_id: next.id, domains: [name] },
    ]);
    expect((await grant(next.id, [name])).status).toBe(200);
    expect(await found(next)).toEqual([`${name} verified`]);
    const theirs = await mailbox(next, `sales@${name}`);
    expect(await deliver(`sales@${name}`, 'After')).toMatch(/^250/);
    expect(await received(next, theirs, 1)).toEqual(['After']);
    expect(await received(former, box, 1)).not.toContain('After');
    expect((await former.client.delete(`/mailboxes/${box}`)).status).toBe(204);
    const restored = await former.client.post(`/mailboxes/${box}/restore`);
    expect([restored.status, restored.headers.get('x-error-code')]).toEqual([
      422,
      'domain_not_owned',
    ]);
    expect((await former.client.get(`/domains/${other.id}`)).body.status).toBe('pending');
    const { body: audit } = await former.client.get('/audit?action=domain.deleted');
    expect(audit.data).toHaveLength(1);
  }, 60_000);

  it('are given up once there is no mailbox in them, and addresses stay reserved', async () => {
    const name = `${unique()}.example`;
    const [owner, next] = [await organization(name), await organization()];
    const { body } = await owner.client.get('/domains');
    const path = `/domains/${body.data[0].id}`;
    const box = await mailbox(owner, `info@${name}`);
    const inUse = await owner.client.delete(path);
    expect([inUse.status, inUse.headers.get('x-error-code')]).toEqual([409, 'domain_in_use']);
    await owner.client.delete(`/mailboxes/${box}`);
    const again = await owner.client.post('/mailboxes', { address: `info@${name}` });
    expect([again.status, again.headers.get('x-error-code')]).toEqual([409, 'address_reserved']);
    expect((await owner.client.post(`/mailboxes/${box}/restore`)).status).toBe(200);
    await owner.client.delete(`/mailboxes/${box}`);
    expect((await owner.client.delete(path)).status).toBe(204);
    expect((await owner.client.get(path)).status).toBe(404);
    const { id, record } = await pending(next, name);
    zone.set(record.name, [record.value]);
    expect((await next.client.post(`/domains/${id}/verify`)).body.status).toBe('verified');
    const theirs = await mailbox(next, `info@${name}`);
    expect(await deliver(`info@${name}`, 'New owner')).toMatch(/^250/);
    expect(await received(next, theirs, 1)).toEqual(['New owner']);
    expect((await owner.client.post(`/mailboxes/${box}/restore`)).status).toBe(422);
  });

  it('are shown by the demo organization, which owns the one of its mailboxes', async () => {
    const demo = stack.client(stack.seed.apiKey);
    const { body } = await demo.get('/domains');
    expect(body.data).toMatchObject([{ name: 'dak.example', status: 'verified' }]);
    expect(stack.failures).toEqual([]);
  });
});
