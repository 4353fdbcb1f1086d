import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { uuidv7 } from '@dak/kernel';
import { eventually } from '@dak/testing/waiting';
import { describeOnBothRuns } from '../stack/distributed-stack';
import { sendMail } from '../stack/sending-mail';
import type { Stack } from '../stack/stack';
import { createTenant, type Tenant } from '../stack/tenant';

const DIST = resolve(process.env['DAK_TEST_DIST'] ?? join(__dirname, '../../dist'));

interface Outcome {
  code: number;
  lines: Record<string, unknown>[];
  errors: string;
}

describeOnBothRuns('parked keys', (start) => {
  let stack: Stack;
  let tenant: Tenant;

  beforeAll(async () => {
    stack = await start();
    tenant = await createTenant(stack, 'parking');
    const made = await tenant.client.post('/rules', {
      name: 'Everything',
      kind: 'labeling',
      mailbox_ids: [tenant.open.id],
      conditions: [],
      actions: [{ type: 'add_labels', labels: ['seen-by-rule'] }],
    });
    expect(made.status).toBe(201);
  }, 120_000);
  afterAll(() => stack.close(), 60_000);

  /** The command as a person on call runs it. */
  async function parked(...args: string[]): Promise<Outcome> {
    const { code, stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [join(DIST, 'commands/parked.js'), ...args],
      { env: { PATH: process.env['PATH'], DAK_LOG_DATABASE_URL: stack.databases.log.url } },
    ).then(
      (said) => ({ ...said, code: 0 }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
    const lines = stdout.split('\n').filter((line) => line !== '');
    return { code, lines: lines.map((line) => JSON.parse(line)), errors: stderr };
  }

  async function inMailDatabase(sql: string): Promise<void> {
    const client = new Client({ connectionString: stack.databases.mail.adminUrl });
    await client.connect();
    await client.query(sql);
    await client.end();
  }
  /**
   * Effects of rules fail with an error that says nothing about its healing: for events from now on, whose
   * ids are greater, since rules may not have seen all earlier mail of the tenant yet.
   */
  const injectFault = () =>
    inMailDatabase(`
      create function injected_fault() returns trigger language plpgsql as $$
      begin raise exception 'injected fault'; end $$;
      create trigger injected_fault before insert on inbox
        for each row when (new.group_name = 'rules' and new.event_id > 'evt_${uuidv7()}')
        execute function injected_fault()`);
  const removeFault = () => inMailDatabase('drop function injected_fault() cascade');

  let sent = 0;
  /** Several mails with a thread of its own are one conversation, whose events share a key. */
  async function deliver(thread: string): Promise<void> {
    sent += 1;
    const root = `<${thread}@customer.example>`;
    const id = `<${thread}-${sent}@customer.example>`;
    const raw = `From: Meera <meera@customer.example>\r\nTo: ${tenant.open.address}\r\nSubject: Re: ${thread}\r\nMessage-ID: ${id}\r\nIn-Reply-To: ${root}\r\nReferences: ${root}\r\n\r\nHello ${sent}.\r\n`;
    const from = 'meera@customer.example';
    expect(await sendMail(stack.smtpPort, { from, to: [tenant.open.address], raw })).toMatch(
      /^250/,
    );
  }

  async function conversationOf(thread: string): Promise<{ id: string; messages: number }> {
    const { body } = await tenant.client.get(`/conversations?mailbox=${tenant.open.id}`);
    const found = (body.data as { id: string; subject: string; message_count: number }[]).find(
      ({ subject }) => subject.includes(thread),
    );
    return { id: found?.id ?? '', messages: found?.message_count ?? 0 };
  }

  /** Mails of a conversation that the rule has seen, in the order in which it did. */
  async function runsOf(conversationId: string): Promise<string[]> {
    const { body } = await tenant.client.get(`/conversations/${conversationId}/rule-runs`);
    const runs = body.data as { message_id: string; created_at: string }[];
    return runs.map(({ message_id }) => message_id);
  }

  async function parkConversation(thread: string): Promise<{ id: string; key: string }> {
    await injectFault();
    try {
      for (let mail = 1; mail <= 3; mail += 1) {
        await deliver(thread);
        await eventually('the mail is stored', async () =>
          (await conversationOf(thread)).messages >= mail ? true : null,
        );
      }
      const { id } = await conversationOf(thread);
      const key = await eventually('the conversation is parked with its mails', async () => {
        const { lines } = await parked('list');
        const line = lines.find((one) => (one['key'] as string).includes(id));
        return line !== undefined && (line['events'] as number) >= 3
          ? (line['key'] as string)
          : null;
      });
      return { id, key };
    } finally {
      await removeFault();
    }
  }

  it('are listed, and replayed in order once the cause is gone; then mail flows again', async () => {
    const { id, key } = await parkConversation('replayed thread');
    const { code, lines } = await parked('list', '--group', 'rules', '--topic', 'mail.events.v1');
    expect(code).toBe(0);
    expect(lines).toHaveLength(1);
    expect(Object.keys(lines[0]!)).toEqual(['group', 'topic', 'key', 'events', 'since', 'reason']);
    expect(lines[0]).toMatchObject({ group: 'rules', topic: 'mail.events.v1', key });
    expect(lines[0]!['reason']).toContain('injected fault');
    expect(Date.now() - Date.parse(lines[0]!['since'] as string)).toBeLessThan(120_000);
    expect(await runsOf(id)).toEqual([]);

    const replayed = await parked('replay', key);
    expect(replayed).toMatchObject({ code: 0, lines: [{ group: 'rules', key, remaining: 0 }] });
    const messages = await tenant.client.get(`/conversations/${id}/messages`);
    const inOrder = (messages.body.data as { id: string }[]).map((message) => message.id).sort();
    const runs = await runsOf(id);
    expect([...runs].sort()).toEqual(inOrder);
    // Ids of messages and of runs grow with time; the newest run comes first.
    expect([inOrder, [...inOrder].reverse()]).toContainEqual(runs);

    expect((await parked('list')).lines).toEqual([]);
    await deliver('replayed thread');
    await eventually('the next mail meets the rule', async () =>
      (await runsOf(id)).length === 4 ? true : null,
    );
  }, 90_000);

  it('are dropped for their group alone; later mail of the conversation meets rules again', async () => {
    const { id, key } = await parkConversation('dropped thread');
    const dropped = await parked('drop', key, '--group', 'rules');
    expect(dropped).toMatchObject({ code: 0, lines: [{ group: 'rules', key }] });
    const ids = dropped.lines[0]!['event_ids'] as string[];
    expect(dropped.lines[0]!['dropped']).toBe(ids.length);
    expect(dropped.errors).toContain('parked events were dropped');
    expect((await parked('list')).lines).toEqual([]);
    await deliver('dropped thread');
    await eventually('the next mail meets the rule', async () =>
      (await runsOf(id)).length === 1 ? true : null,
    );
  }, 90_000);

  it('say in a sentence what cannot be done', async () => {
    for (const action of ['replay', 'drop']) {
      const { code, errors } = await parked(action, 'no-such-key', '--group', 'rules');
      expect([code, errors]).toEqual([
        1,
        'The key no-such-key is not parked in rules; "parked -- list" has those that are.\n',
      ]);
    }
    for (const wrong of [[], ['replay'], ['list', 'KEY'], ['forget', 'KEY'], ['list', '--all']]) {
      expect((await parked(...wrong)).code).toBe(2);
    }
  }, 30_000);
});
