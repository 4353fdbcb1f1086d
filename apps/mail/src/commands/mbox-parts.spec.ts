import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mboxParts } from './mbox-parts';

let folder: string;
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'dak-mbox-parts-'))));
afterAll(() => rm(folder, { recursive: true, force: true }));

test('an mbox is cut before separators, and the parts are the whole', async () => {
  const message = (index: number) =>
    `From a@x.example Fri Feb 22 15:06:23 2008\r\nSubject: ${index}\r\n\r\nFrom here on ${'text '.repeat(index)}\r\n\r\n`;
  const text = Array.from({ length: 300 }, (_, index) => message(index)).join('');
  const path = join(folder, 'box');
  await writeFile(path, text);
  const parts = await mboxParts(path, text.length, 20_000);
  const texts = parts.map(({ start, end }) => text.slice(start, end));
  expect(texts.length).toBeGreaterThan(5);
  expect(texts.join('')).toBe(text);
  for (const part of texts) expect(part).toMatch(/^From a@x\.example/);
});

test('a file without separators stays whole', async () => {
  const path = join(folder, 'plain');
  await writeFile(path, 'x'.repeat(50_000));
  expect(await mboxParts(path, 50_000, 1000)).toEqual([{ start: 0, end: 50_000 }]);
});
