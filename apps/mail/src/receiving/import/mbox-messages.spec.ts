import { MAX_MESSAGE_BYTES, type ImportItem } from './import-item';
import { mboxMessages } from './mbox-messages';

/** The stream in pieces of `size`, so that every boundary falls everywhere. */
async function* inPieces(text: string | Buffer, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text as string, 'latin1');
  for (let start = 0; start < bytes.length; start += size)
    yield bytes.subarray(start, start + size);
}

async function messages(text: string | Buffer, size = 7): Promise<ImportItem[]> {
  const items: ImportItem[] = [];
  for await (const item of mboxMessages(inPieces(text, size))) items.push(item);
  return items;
}

function texts(items: ImportItem[]): string[] {
  return items.map((item) =>
    'failure' in item ? `! ${item.failure}` : item.raw.toString('latin1'),
  );
}

const LINE = 'From ann@x.example Fri Feb 22 15:06:23 2008\n';

test.each([1, 2, 3, 5, 64, 4096])('messages are found in pieces of %d bytes', async (size) => {
  const items = await messages(`${LINE}A: 1\n\none\n\n${LINE}A: 2\n\ntwo\n\n\n`, size);
  expect(texts(items)).toEqual(['A: 1\n\none\n', 'A: 2\n\ntwo\n\n']);
});

test('line ends may be CRLF', async () => {
  const text = `${LINE}A: 1\n\none\n\n${LINE}A: 2\n\ntwo\n`.replaceAll('\n', '\r\n');
  expect(texts(await messages(text))).toEqual(['A: 1\r\n\r\none\r\n', 'A: 2\r\n\r\ntwo']);
});

test('a From line in the text is no separator without an empty line before it or a date on it', async () => {
  const body = `A: 1\n\ntext\n${LINE}more\n\nFrom here on it rained.\n`;
  expect(texts(await messages(`${LINE}${body}\n`))).toEqual([body]);
});

test('one mark is taken off quoted From lines, at every depth', async () => {
  const items = await messages(`${LINE}A: 1\n\n>From me\n>>From you\n> From us\n\n`);
  expect(texts(items)).toEqual(['A: 1\n\nFrom me\n>From you\n> From us\n']);
});

test('Content-Length is believed where it points at a separator, and not otherwise', async () => {
  const body = `one\n\n${LINE}inside\n`;
  const right = `${LINE}Content-Length: ${body.length}\n\n${body}\n${LINE}A: 2\n\ntwo\n`;
  expect(await messages(right)).toHaveLength(2);
  const wrong = `${LINE}Content-Length: 20000\n\n${body}\n${LINE}A: 2\n\ntwo\n`;
  expect(await messages(wrong)).toHaveLength(3);
});

test('date and read flag come from separator and Status', async () => {
  const items = await messages(
    `${LINE}Status: RO\nA: 1\n\n\n${LINE}Status: O\n\nStatus: R\n\n${LINE}A: 3\n\n`,
  );
  expect(items.map((item) => ('failure' in item ? null : item.unread))).toEqual([
    false,
    true,
    true,
  ]);
  expect(items[0]).toMatchObject({ arrivedAt: new Date('2008-02-22T15:06:23Z') });
});

test('a separator without an empty line before it counts when a header follows', async () => {
  const items = await messages(
    `${LINE}A: 1\n\none\n${LINE}A: 2\n\ntwo\n${LINE}says so, and more.\n`,
  );
  expect(texts(items)).toEqual(['A: 1\n\none', `A: 2\n\ntwo\n${LINE}says so, and more.`]);
});

test('a file that ends in the middle of a message gives what is there', async () => {
  expect(texts(await messages(`${LINE}A: 1\n\none\n\n${LINE}A: 2\nSubject: cut o`))).toEqual([
    'A: 1\n\none\n',
    'A: 2\nSubject: cut o',
  ]);
});

test('an oversized message is reported and the next one is found', async () => {
  const large = Buffer.alloc(MAX_MESSAGE_BYTES + 1000, 'x'.repeat(99) + '\n');
  const text = Buffer.concat([
    Buffer.from(`${LINE}A: 1\n\n`),
    large,
    Buffer.from(`\n\n${LINE}A: 2\n\ntwo\n`),
  ]);
  const [first, second] = texts(await messages(text, 256 * 1024));
  expect(first!.slice(0, 100)).toContain('larger than');
  expect(second).toBe('A: 2\n\ntwo');
});

test('what does not begin as an mbox is refused, and nothing is no mail', async () => {
  await expect(messages('Subject: hello\n\ntext\n')).rejects.toThrow('must begin with "From "');
  expect(await messages('')).toEqual([]);
  expect(await messages('\n\n')).toEqual([]);
});
