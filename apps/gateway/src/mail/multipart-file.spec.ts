import { readMultipartFile } from './multipart-file';

const headers = { 'content-type': 'multipart/form-data; boundary=b' };
const part = (disposition: string, content: string, type = '') =>
  `--b\r\nContent-Disposition: form-data; ${disposition}\r\n${type && `Content-Type: ${type}\r\n`}\r\n${content}\r\n`;
const END = '--b--\r\n';

/** In pieces of a few bytes, as a slow line sends it. */
async function* inPieces(text: string, bytes = 7): AsyncIterable<Buffer> {
  const all = Buffer.from(text);
  for (let at = 0; at < all.length; at += bytes) yield all.subarray(at, at + bytes);
}

async function contentOf({ content }: { content: AsyncIterable<Buffer> }): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('a form with a file', () => {
  it('gives the file, its name and type, and the fields before it', async () => {
    const form =
      part('name="note"', 'hällo') +
      part('name="file"; filename="Größe.txt"', 'line\r\n--c\r\n', 'text/plain; charset=utf-8') +
      END;
    const file = await readMultipartFile(headers, inPieces(form));
    expect(file).toMatchObject({ filename: 'Größe.txt', contentType: 'text/plain' });
    expect(file.fields).toEqual(new Map([['note', 'hällo']]));
    expect(await contentOf(file)).toBe('line\r\n--c\r\n');
  });

  it('may have an empty file', async () => {
    const form = part('name="file"; filename="a"', '') + END;
    const file = await readMultipartFile(headers, inPieces(form));
    expect(await contentOf(file)).toBe('');
  });

  it.each([
    ['no boundary', { 'content-type': 'multipart/form-data' }, '', /no usable boundary/],
    ['no file', headers, part('name="note"', 'x') + END, /has no file/],
    ['nothing', headers, END, /has no file/],
    [
      'its file in another field',
      headers,
      part('name="upload"; filename="a"', 'x') + END,
      /in the field "upload"/,
    ],
    ['no end before its file', headers, '--b\r\nContent-Dispo', /malformed or incomplete/],
  ])('is refused with %s', async (_, given, form, sentence) => {
    await expect(readMultipartFile(given, inPieces(form))).rejects.toThrow(sentence);
  });

  it.each([
    ['ends early', part('name="file"; filename="a"', 'much').slice(0, -3), /incomplete/],
    [
      'has a second file',
      part('name="file"; filename="a"', 'x') + part('name="file"; filename="b"', 'y') + END,
      /more than one file/,
    ],
  ])('fails its reader when it %s', async (_, form, sentence) => {
    const file = await readMultipartFile(headers, inPieces(form));
    await expect(contentOf(file)).rejects.toThrow(sentence);
  });

  it('fails its reader when the body fails', async () => {
    async function* broken(): AsyncIterable<Buffer> {
      yield Buffer.from(`${part('name="file"; filename="a"', 'x'.repeat(100_000))}`);
      throw new Error('the client is gone');
    }
    const file = await readMultipartFile(headers, broken());
    await expect(contentOf(file)).rejects.toThrow('the client is gone');
  });

  it('lets go of the body when it is refused', async () => {
    let isOver = false;
    async function* endless(): AsyncIterable<Buffer> {
      try {
        yield Buffer.from(part('name="upload"; filename="a"', 'x'));
        for (;;) yield Buffer.alloc(1_000, 'x');
      } finally {
        isOver = true;
      }
    }
    await expect(readMultipartFile(headers, endless())).rejects.toThrow(/in the field "upload"/);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(isOver).toBe(true);
  });
});
