import { createServer, type Server } from 'node:http';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import tar from 'tar-stream';
import type { ImportRecord } from '@dak/contracts/api';
import type { Document, ImportRequest } from '@dak/contracts/mail';
import { type DomainError, type Principal } from '@dak/kernel';
import { importMail } from '../src/commands/import-mail';
import { createImportHandlers } from '../src/receiving/import/handlers';
import { openInbound, rawMessage, storedMessages, type InboundParts } from './inbound-fixtures';
import {
  contextOf,
  insertMailbox,
  openMailDatabase,
  principal,
  type MailDatabase,
} from './mail-fixtures';
import { zipOf } from './zip-fixture';

let mail: MailDatabase;
let inbound: InboundParts;
let folder: string;
let handlers: ReturnType<typeof createImportHandlers>;

beforeAll(async () => {
  mail = await openMailDatabase();
  inbound = await openInbound(mail.database);
  folder = await mkdtemp(join(tmpdir(), 'dak-import-test-'));
  handlers = createImportHandlers({
    database: mail.database,
    blobs: inbound.blobs,
    clock: Date.now,
    onSpooled: () => undefined,
    temporaryFolder: folder,
  });
});
afterAll(async () => {
  await inbound.close();
  await rm(folder, { recursive: true, force: true });
  await mail.close();
});

async function newBox() {
  const caller = principal();
  const mailbox = await insertMailbox(mail.database, caller.organizationId);
  return { caller, mailboxId: mailbox.id, address: mailbox.address };
}
type Box = Awaited<ReturnType<typeof newBox>>;

async function* requestsOf(
  mailboxId: string,
  contentType: string,
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<ImportRequest> {
  yield { part: { $case: 'description', value: { mailboxId, contentType } } };
  for await (const chunk of content) {
    yield { part: { $case: 'content', value: Buffer.from(chunk) } };
  }
}

function recordOf(document: Document): ImportRecord {
  return JSON.parse(document.json.toString()) as ImportRecord;
}

async function send(
  box: Box,
  contentType: string,
  content: Buffer | AsyncIterable<Uint8Array>,
): Promise<ImportRecord> {
  const stream = Buffer.isBuffer(content) ? [content] : content;
  const requests = requestsOf(box.mailboxId, contentType, stream);
  return recordOf(await handlers.import(requests, contextOf(box.caller)));
}

/** Sends, stores, and reads the record again. */
async function run(box: Box, contentType: string, content: Buffer): Promise<ImportRecord> {
  const { id } = await send(box, contentType, content);
  await inbound.pipeline.drain();
  return recordOf(await handlers.getImport({ id }, contextOf(box.caller)));
}

const rowsOf = (box: Box) =>
  storedMessages(mail.database, box.caller.organizationId, box.mailboxId);

function mboxOf(count: number, status = 'Status: RO\n'): Buffer {
  return Buffer.from(
    Array.from(
      { length: count },
      (_, index) =>
        `From ann@x.example Fri Feb 22 15:06:23 2008\nFrom: ann@x.example\nMessage-ID: <${index}@x>\n` +
        `Subject: Letter ${index}\nDate: Fri, 22 Feb 2008 15:00:0${index % 10} +0000\n${status}\nText ${index}\n\n`,
    ).join(''),
  );
}

async function tarOf(files: Record<string, Buffer>): Promise<Buffer> {
  const pack = tar.pack();
  for (const [name, content] of Object.entries(files)) pack.entry({ name }, content);
  pack.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of pack) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

test('an mbox is stored with its dates and read flags, and once however often it is sent', async () => {
  const box = await newBox();
  const first = await run(box, 'application/mbox', mboxOf(5));
  expect(first).toMatchObject({
    status: 'done',
    received: 5,
    stored: 5,
    duplicates: 0,
    failed: [],
  });
  const [row] = await rowsOf(box);
  expect(row).toMatchObject({ sort_at: '2008-02-22T15:00:00.000Z', unread: false });

  const again = await run(box, 'application/mbox', mboxOf(7));
  expect(again).toMatchObject({ status: 'done', received: 7, stored: 2, duplicates: 5 });
  expect(await rowsOf(box)).toHaveLength(7);
});

test('messages without a Message-ID are recognized when the same file comes again', async () => {
  const box = await newBox();
  const raw = rawMessage({ Subject: 'No id' });
  await run(box, 'message/rfc822', raw);
  expect(await run(box, 'message/rfc822', raw)).toMatchObject({ stored: 0, duplicates: 1 });
});

test('imported mail joins the threads of received mail and is a copy of what was received', async () => {
  const box = await newBox();
  const raw = rawMessage({ 'Message-ID': '<live@x>', Subject: 'Live' });
  await inbound.receive({ organizationId: box.caller.organizationId, mailboxId: box.mailboxId }, [
    raw,
  ]);
  const reply = { 'Message-ID': '<old@x>', Subject: 'Re: Live', 'In-Reply-To': '<live@x>' };
  const files = {
    'a.eml': Buffer.from(raw.toString().replaceAll('\r\n', '\n')),
    'b.eml': rawMessage(reply),
  };
  expect(await run(box, 'application/x-tar', await tarOf(files))).toMatchObject({
    stored: 1,
    duplicates: 1,
  });
  const rows = await rowsOf(box);
  expect(new Set(rows.map((row) => row.conversation_id)).size).toBe(1);
});

test.each(['tar', 'tar.gz', 'zip'])(
  'a Maildir in a %s keeps folders and read flags',
  async (kind) => {
    const box = await newBox();
    const files = {
      'Maildir/cur/1204000000.a:2,S': rawMessage({ 'Message-ID': '<1@x>', Subject: 'Inbox' }),
      'Maildir/.Sent/cur/1204000001.b:2,': rawMessage({ 'Message-ID': '<2@x>', Subject: 'Sent' }),
      'Maildir/dovecot.index': Buffer.from('not mail'),
    };
    const archive = kind === 'zip' ? zipOf(files) : await tarOf(files);
    const record = await run(
      box,
      kind === 'zip' ? 'application/zip' : 'application/x-tar',
      kind === 'tar.gz' ? gzipSync(archive) : archive,
    );
    expect(record).toMatchObject({ status: 'done', received: 2, stored: 2, failed: [] });
    const bySubject = new Map((await rowsOf(box)).map((row) => [row.subject, row]));
    expect(bySubject.get('Inbox')).toMatchObject({ unread: false, labels: [] });
    expect(bySubject.get('Sent')).toMatchObject({ unread: true, labels: ['folder:sent'] });
  },
);

test('a file whose path leads out of the archive is reported, and the others are stored', async () => {
  const box = await newBox();
  for (const archive of [
    zipOf({ '../../evil.eml': rawMessage({}), 'good.eml': rawMessage({ 'Message-ID': '<g@x>' }) }),
  ]) {
    const record = await run(box, 'application/zip', archive);
    expect(record).toMatchObject({ received: 2, stored: 1 });
    expect(record.failed).toEqual([{ index: 0, reason: expect.stringContaining('path') }]);
  }
  expect(await readdir(folder)).toEqual([]);
});

test('an archive that unpacks to far more than mail can is refused', async () => {
  const box = await newBox();
  const zeros = Buffer.alloc(34 * 1024 * 1024);
  const bomb = zipOf({ '1.eml': zeros, '2.eml': zeros, '3.eml': zeros });
  await expect(run(box, 'application/zip', bomb)).resolves.toMatchObject({
    status: 'failed',
    failed: [
      { reason: expect.stringContaining('not mail') },
      { reason: expect.stringContaining('unpacks to more than') },
    ],
  });
  expect(await readdir(folder)).toEqual([]);
});

test('a stream that is not what it says is refused with the reason', async () => {
  const box = await newBox();
  const refused = async (type: string, content: string) =>
    send(box, type, Buffer.from(content)).catch((error: DomainError) => error.kind);
  expect(await refused('application/mbox', 'no mbox')).toBe('invalid');
  expect(await refused('application/zip', 'no zip')).toBe('invalid');
  expect(await refused('message/rfc822', 'hello world')).toBe('invalid');
  expect(await refused('text/html', '<p>')).toBe('unsupported_media');
});

test('an archive that is cut off fails once what it brought is stored', async () => {
  const box = await newBox();
  const files = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [
      `${index}.eml`,
      index === 3 ? Buffer.from('no mail') : rawMessage({ 'Message-ID': `<${index}@cut>` }),
    ]),
  );
  const cut = (await tarOf(files)).subarray(0, 10_100);
  const record = await run(box, 'application/x-tar', cut);
  expect(record).toMatchObject({ status: 'failed', received: 10, stored: 9 });
  expect(record.failed.map((one) => one.reason)).toEqual([
    expect.stringContaining('not mail'),
    expect.stringContaining('tar cannot be read'),
  ]);
});

test('a stream that breaks off keeps what it brought, and the next one brings the rest', async () => {
  const box = await newBox();
  const whole = mboxOf(500);
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield whole.subarray(0, Math.floor(whole.length * 0.7));
    throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
  }
  await expect(send(box, 'application/mbox', broken())).rejects.toThrow('socket hang up');
  await inbound.pipeline.drain();
  const kept = (await rowsOf(box)).length;
  expect(kept).toBeGreaterThan(300);
  const record = await run(box, 'application/mbox', whole);
  expect(record).toMatchObject({ status: 'done', received: 500, stored: 500 - kept });
});

test('an import is seen by those who see its mailbox, and by nobody else', async () => {
  const box = await newBox();
  const { id } = await send(box, 'application/mbox', mboxOf(1));
  const see = (caller: Principal) => handlers.getImport({ id }, contextOf(caller));
  await expect(see(principal())).rejects.toMatchObject({ kind: 'not_found' });
  const colleague = principal({ organizationId: box.caller.organizationId, role: 'user' });
  await expect(see(colleague)).rejects.toMatchObject({ kind: 'not_found' });
  await expect(
    handlers.import(requestsOf(box.mailboxId, 'application/mbox', []), contextOf(colleague)),
  ).rejects.toMatchObject({ kind: 'not_found' });
});

describe('the import command', () => {
  let box: Box;
  let server: Server;
  let baseUrl: string;

  beforeAll(async () => {
    box = await newBox();
    server = createServer((request, response) => {
      const answer = async () => {
        const path = request.url!.replace('/api/v1', '');
        if (path.startsWith('/mailboxes?')) {
          return { data: [{ id: box.mailboxId, address: box.address }], next_cursor: null };
        }
        if (request.method === 'POST') {
          const record = await handlers.import(
            requestsOf(box.mailboxId, request.headers['content-type']!, request),
            contextOf(box.caller),
          );
          void inbound.pipeline.drain();
          return recordOf(record);
        }
        return recordOf(
          await handlers.getImport({ id: path.split('/').at(-1)! }, contextOf(box.caller)),
        );
      };
      answer().then(
        (body) => response.end(JSON.stringify(body)),
        (error: Error) => response.writeHead(400).end(JSON.stringify({ error: error.message })),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  test('takes mbox files, Maildirs and folders of .eml files, twice with nothing new', async () => {
    const maildir = join(folder, 'home', 'Maildir');
    await mkdir(join(maildir, 'cur'), { recursive: true });
    await mkdir(join(maildir, '.Old', 'new'), { recursive: true });
    await writeFile(
      join(maildir, 'cur', '1204000000.a:2,S'),
      rawMessage({ 'Message-ID': '<c1@x>' }),
    );
    await writeFile(join(maildir, '.Old', 'new', '1204.b'), rawMessage({ 'Message-ID': '<c2@x>' }));
    const export_ = join(folder, 'home', 'export');
    await mkdir(join(export_, 'Bills'), { recursive: true });
    await writeFile(join(export_, 'Bills', 'x.eml'), rawMessage({ 'Message-ID': '<c3@x>' }));
    await writeFile(join(folder, 'home', 'archive'), mboxOf(3));

    const lines: string[] = [];
    const command = {
      connect: () => ({ baseUrl, apiKey: 'key' }),
      mailbox: box.address.toUpperCase(),
      paths: [maildir, export_, join(folder, 'home', 'archive')],
      isTerminal: false,
      print: (line: string) => void lines.push(line),
    };
    expect(await importMail(command)).toEqual({ received: 6, stored: 6, duplicates: 0, failed: 0 });
    expect(await importMail(command)).toEqual({ received: 6, stored: 0, duplicates: 6, failed: 0 });
    expect(lines[0]).toContain('2 stored, 0 there already');
    const labels = (await rowsOf(box)).flatMap((row) => row.labels);
    expect(labels.sort()).toEqual(['folder:bills', 'folder:old']);
    await rm(join(folder, 'home'), { recursive: true });
  });

  test('waits for a server that goes away in the middle, wherever it comes back', async () => {
    const file = join(folder, 'waiting.mbox');
    await writeFile(file, mboxOf(40).toString().replaceAll('@x>', '@waiting>'));
    let tries = 0;
    const lines: string[] = [];
    const summary = await importMail({
      connect: () => {
        tries += 1;
        return { baseUrl: tries === 2 ? 'http://127.0.0.1:9' : baseUrl, apiKey: 'key' };
      },
      mailbox: box.address,
      paths: [file],
      isTerminal: false,
      print: (line) => void lines.push(line),
    });
    expect(summary).toEqual({ received: 40, stored: 40, duplicates: 0, failed: 0 });
    expect(lines[0]).toMatch(/waiting\.mbox: .*Sending it again/);
    await rm(file);
  });

  test('says what is wrong with a path or an address', async () => {
    const command = {
      connect: () => ({ baseUrl, apiKey: 'key' }),
      mailbox: 'nobody@example.org',
      paths: [folder],
      isTerminal: false,
      print: () => undefined,
    };
    await expect(importMail(command)).rejects.toThrow('holds no mail');
    const file = join(folder, 'one.eml');
    await writeFile(file, rawMessage({}));
    await expect(importMail({ ...command, paths: [file] })).rejects.toThrow('no mailbox');
    await rm(file);
  });
});
