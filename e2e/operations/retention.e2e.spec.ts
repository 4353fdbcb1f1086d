import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { runningEmbeddedPostgres } from '@dak/platform/embedded-postgres';
import { eventually } from '@dak/testing/waiting';
import { filesWith } from './files-with';
import { removeDataDir, startDak, temporaryDataDir, type RunningDak } from '../stack/running-dak';
import { sendMail } from '../stack/sending-mail';

const run = promisify(execFile);
const DIST = resolve(process.env['DAK_TEST_DIST'] ?? join(__dirname, '../../dist'));
const GONE = 'zacharias.quill';
const HELD = 'henrietta.kept';
const YOUNG = 'yolanda.fresh';
const ERASED = 'erasmus.blank';

/** As `npm run --silent retention -- --now`. */
async function retainNow(dak: RunningDak): Promise<Record<string, number>> {
  const { stdout } = await run(process.execPath, [join(DIST, 'commands/retention.js'), '--now'], {
    env: { PATH: process.env['PATH'], DAK_DATA_DIR: dak.dataDir },
  });
  return JSON.parse(stdout) as Record<string, number>;
}

function mailOf(name: string, subject: string, file = 'a file'): string {
  return [
    `From: ${name} <${name}@person.example>`,
    'To: support@dak.example',
    `Subject: ${subject}`,
    `Message-ID: <${subject}@person.example>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    `Write to ${name}@person.example please.`,
    '--b',
    'Content-Type: text/plain',
    `Content-Disposition: attachment; filename=${name}.txt`,
    '',
    `${file} of ${name}@person.example`,
    '--b--',
    '',
  ].join('\r\n');
}

describe('retention and erasure on a data folder', () => {
  let dataDir: string;
  let dak: RunningDak;

  beforeAll(async () => {
    dataDir = temporaryDataDir();
    dak = await startDak(dataDir);
  }, 120_000);
  afterAll(async () => {
    await dak.stop();
    removeDataDir(dataDir);
  });

  const as = async (person: { email: string; password: string }) => {
    const { body } = await dak.api('POST', '/auth/login', person);
    return { authorization: `Bearer ${body.access_token}` };
  };
  const importMail = async (mailboxId: string, mails: readonly string[], key?: string) => {
    const archive = mails
      .map(
        (mail) => `From x@y.example Mon Jan  1 00:00:00 2024\n${mail.replaceAll('\r\n', '\n')}\n`,
      )
      .join('');
    const response = await fetch(`${dak.bootstrap.base_url}/mailboxes/${mailboxId}/imports`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key ?? dak.bootstrap.api_key}`,
        'content-type': 'application/mbox',
      },
      body: archive,
    });
    expect(response.status).toBeLessThan(300);
  };
  const conversationOf = (subject: string) =>
    eventually(`${subject} is there`, async () => {
      const { body } = await dak.api('GET', '/conversations?status=all&per_page=100');
      return (body.data as { id: string; subject: string }[]).find(
        (one) => one.subject === subject,
      );
    });

  const eventsOf = async (conversation: string) => {
    const url = new URL(runningEmbeddedPostgres(dataDir)!);
    url.pathname = '/dak_log';
    const client = new pg.Client({ connectionString: url.toString() });
    await client.connect();
    try {
      const { rows } = await client.query<{ types: string[]; unread: number }>(
        `select array_agg(headers ->> 'ce_type') as types,
                count(*) filter (where exists (select from consumer_offset o
                                                where o.topic = e.topic and o.part = e.part and o.off <= e.off))::integer as unread
           from event_log e where key like '%' || $1`,
        [conversation],
      );
      return rows[0]!;
    } finally {
      await client.end();
    }
  };

  it('leaves nothing of mail whose time is over, but what is held, in any file', async () => {
    const { body: made } = await dak.api('POST', '/mailboxes', {
      address: 'archive@dak.example',
      display_name: 'Archive',
    });
    await importMail(made.id, [
      mailOf(GONE, 'old-one'),
      mailOf(GONE, 'old-two'),
      mailOf(HELD, 'old-held'),
    ]);
    const sent = await sendMail(dak.bootstrap.smtp.port, {
      from: `${YOUNG}@person.example`,
      to: ['archive@dak.example'],
      raw: mailOf(YOUNG, 'young-one'),
    });
    expect(sent).toMatch(/^250/);
    const held = await conversationOf('old-held');
    const old = await conversationOf('old-one');
    await conversationOf('young-one');
    expect(filesWith(dataDir, GONE)).not.toEqual([]);

    const admin = await as(dak.bootstrap.admin);
    await dak.api('POST', '/labels', { name: 'legal-hold' }, admin);
    const labelled = await dak.api(
      'POST',
      `/conversations/${held.id}/labels`,
      { add: ['legal-hold'] },
      admin,
    );
    expect(labelled.status).toBeLessThan(300);
    const limited = await dak.api('PATCH', '/settings/organization', { retention_days: 30 }, admin);
    expect([limited.status, limited.body.retention_days]).toEqual([200, 30]);

    const removed = await retainNow(dak);
    expect(removed).toMatchObject({ messages: 2, conversations: 2, blobs: 3 });
    expect(removed['bytes']).toBeGreaterThan(0);
    expect((await dak.api('GET', `/conversations/${old.id}`)).status).toBe(404);
    expect((await dak.api('GET', `/conversations/${held.id}`)).status).toBe(200);
    const search = await dak.api('GET', `/search?q=${GONE}`);
    expect(JSON.stringify(search.body)).not.toContain('old-one');
    await conversationOf('young-one');
    expect(filesWith(dataDir, GONE)).toEqual([]);
    expect(filesWith(dataDir, HELD)).not.toEqual([]);

    await dak.api('POST', `/conversations/${held.id}/labels`, { remove: ['legal-hold'] }, admin);
    await eventually('the events of the labels were read', async () => {
      const { types, unread } = await eventsOf(held.id);
      return types.length >= 2 && unread === 0;
    });
    expect(await retainNow(dak)).toMatchObject({ messages: 1, conversations: 1, blobs: 2 });
    expect(filesWith(dataDir, HELD)).toEqual([]);
    // Published by the removal itself.
    expect((await eventsOf(held.id)).types).toEqual(['conversation.updated']);
    expect(await retainNow(dak)).toEqual({ messages: 0, conversations: 0, blobs: 0, bytes: 0 });
    expect(dak.errors).toEqual([]);
  }, 240_000);

  it('erases an organization with every trace of its people and its mail', async () => {
    const platform = await as(dak.bootstrap.superadmin);
    const password = 'a long enough password';
    const made = await dak.api(
      'POST',
      '/admin/organizations',
      {
        name: 'Blank Works',
        domains: ['blankworks.example'],
        admin: { email: `${ERASED}@blankworks.example`, display_name: 'Erasmus', password },
      },
      platform,
    );
    const { id } = made.body;
    const admin = await as({ email: `${ERASED}@blankworks.example`, password });
    const mailbox = await dak.api(
      'POST',
      '/mailboxes',
      { address: 'info@blankworks.example', display_name: 'Info' },
      admin,
    );
    expect(mailbox.status).toBe(201);
    for (const subject of ['first', 'second', 'third']) {
      await sendMail(dak.bootstrap.smtp.port, {
        from: `${ERASED}@elsewhere.example`,
        to: ['info@blankworks.example'],
        raw: mailOf(ERASED, subject),
      });
    }
    await eventually('mail is there', async () => {
      const { body } = await dak.api('GET', '/conversations', undefined, admin);
      return body.data.length === 3;
    });
    const sent = await dak.api(
      'POST',
      '/compose/send',
      {
        mailbox_id: mailbox.body.id,
        to: [`${ERASED}@elsewhere.example`],
        subject: 'out',
        body_text: `to ${ERASED}`,
      },
      { ...admin, 'idempotency-key': 'once' },
    );
    expect(sent.status).toBe(201);

    const path = `/admin/organizations/${id}`;
    const erase = (name: string) => dak.api('POST', `${path}/erase`, { name }, platform);
    expect((await erase('Blank Works')).status).toBe(409);
    const suspended = await dak.api('PATCH', path, { status: 'suspended' }, platform);
    expect(suspended.status).toBe(200);
    expect((await erase('Other Works')).status).toBe(422);
    expect((await erase('Blank Works')).status).toBe(202);
    await eventually(
      'the organization is gone',
      async () => (await dak.api('GET', path, undefined, platform)).status === 404,
      60_000,
    );
    expect(filesWith(dataDir, ERASED)).toEqual([]);
    const { body: audit } = await dak.api(
      'GET',
      '/audit?action=organization.erased&outcome=succeeded',
      undefined,
      platform,
    );
    expect(audit.data[0]).toMatchObject({ target: { type: 'organization', id } });
    expect((await dak.api('GET', '/audit/verify', undefined, platform)).body.valid).toBe(true);
    expect(dak.errors).toEqual([]);
  }, 240_000);

  it('goes on with an erasure that a crash has interrupted', async () => {
    const platform = await as(dak.bootstrap.superadmin);
    const name = 'Interrupted Works';
    const admin = { email: 'ines@interrupted.example', display_name: 'Ines' };
    const made = await dak.api('POST', '/admin/organizations', { name, admin }, platform);
    const path = `/admin/organizations/${made.body.id}`;
    await dak.api('PATCH', path, { status: 'suspended' }, platform);
    const asked = dak.api('POST', `${path}/erase`, { name }, platform).catch(() => null);
    await eventually('the erasure has begun', async () => {
      const { status } = await dak.api('GET', `${path}/erase`, undefined, platform);
      return status === 200;
    });
    await dak.kill();
    await asked;
    dak = await startDak(dataDir);
    const again = await as(dak.bootstrap.superadmin);
    await eventually(
      'the organization is gone',
      async () => (await dak.api('GET', path, undefined, again)).status === 404,
      60_000,
    );
    expect(filesWith(dataDir, 'ines@interrupted')).toEqual([]);
  }, 240_000);
});
