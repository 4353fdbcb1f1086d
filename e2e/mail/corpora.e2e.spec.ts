import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { eventually } from '@dak/testing/waiting';
import { openSession, transact } from '../stack/sending-mail';
import { startStack, type Stack } from '../stack/stack';
import { createTenant, type Tenant } from '../stack/tenant';
import { withDatabase } from '../stack/stack-databases';

const FORMATS = resolve(__dirname, '../../libs/formats');
const MAIL_FILE = /\.(eml|msg|txt)$/;

/** Every mail of the corpora that the formats are tested with. */
function mailFiles(): string[] {
  return readdirSync(FORMATS).flatMap((format) => {
    const folder = join(FORMATS, format, 'test/corpora');
    return filesBelow(folder).filter((path) => MAIL_FILE.test(path) && !/LICENSE/.test(path));
  });
}

function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  } catch {
    return [];
  }
}

describe('mail of the corpora, sent over SMTP', () => {
  const files = mailFiles();
  let stack: Stack;
  let tenant: Tenant;

  beforeAll(async () => {
    stack = await startStack();
    tenant = await createTenant(stack, 'tenantone');
  }, 60_000);
  afterAll(async () => {
    await stack.close();
  });

  it('is stored to the last one, and every detail, file and raw mail can be read', async () => {
    expect(files.length).toBeGreaterThan(100);
    const before = await countMessages();
    const dialog = await openSession(stack.smtpPort);
    const refused: string[] = [];
    for (const [index, file] of files.entries()) {
      // A field of its own: some files are copies, and a copy is stored once.
      const text = readFileSync(file, 'latin1').replace(/\r?\n/g, '\r\n');
      const raw = Buffer.from(`Comments: file ${index}\r\n${text}`, 'latin1');
      const reply = await transact(dialog, { to: [tenant.open.address], raw });
      if (!reply.startsWith('250 ')) refused.push(`${file}: ${reply}`);
    }
    dialog.socket.destroy();
    expect(refused).toEqual([]);
    await eventually('all are stored', async () => {
      return (await countMessages()) - before === files.length;
    });
    expect(await readAll()).toEqual({ messages: before / 2 + files.length, wrong: [] });
    expect(stack.failures).toEqual([]);
  }, 90_000);

  function countMessages(): Promise<number> {
    return withDatabase(stack.databases.mail.adminUrl, async (database) => {
      const { rows } = await database.query<{ count: number }>(
        'select count(*)::int as count from message',
      );
      return rows[0]!.count;
    });
  }

  /** Of the mailbox `open`; the client holds every record against the OpenAPI document. */
  async function readAll(): Promise<{ messages: number; wrong: string[] }> {
    const wrong: string[] = [];
    let messages = 0;
    const filter = `mailbox=${tenant.open.id}&status=all&disposition=all`;
    for await (const conversation of pages(`/conversations?${filter}`)) {
      for await (const message of pages(`/conversations/${conversation.id}/messages?`)) {
        messages += 1;
        const path = `/conversations/${conversation.id}/messages/${message.id}`;
        const replies = [
          await tenant.client.get(`${path}?include=headers&raw_html=true`),
          await tenant.client.get(`${path}/raw`),
        ];
        for (const { id, size_bytes } of message.attachments ?? []) {
          const link = await tenant.client.get(`${path}/attachments/${id}`);
          replies.push(link);
          const bytes = await (await fetch(link.body.download_url)).arrayBuffer();
          if (bytes.byteLength !== size_bytes) wrong.push(`${path}: ${id} has another size`);
        }
        wrong.push(
          ...replies.flatMap(({ status }) => (status === 200 ? [] : [`${path} ${status}`])),
        );
      }
    }
    return { messages, wrong };
  }

  interface Row {
    id: string;
    attachments?: { id: string; size_bytes: number }[];
  }

  async function* pages(path: string): AsyncGenerator<Row> {
    let cursor = '';
    do {
      const { body } = await tenant.client.get(`${path}&per_page=100${cursor}`);
      yield* body.data as Row[];
      cursor = body.has_more === true ? `&cursor=${encodeURIComponent(body.next_cursor)}` : '';
    } while (cursor !== '');
  }
});
