import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@dak/testing/waiting';
import { BlobJournal, type BlobJournalOptions, type JournaledBlob } from '../src/blob-journal';
import { FolderBlobStore } from '../src/folder-blob-store';

const ORGANIZATION = '0192f0c4-0000-7000-8000-000000000001';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'dak-blob-journal-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** Those that hold something: a segment that is empty starts with zeros. */
async function segments(folder = join(root, 'journal')): Promise<string[]> {
  const paths = (await readdir(folder)).map((name) => join(folder, name));
  const starts = await Promise.all(paths.map((path) => readFile(path)));
  return paths.filter((_, n) => starts[n]!.subarray(0, 8).some((octet) => octet !== 0));
}
const pathOf = (sha256: string): string => join(root, ORGANIZATION, sha256.slice(0, 2), sha256);

async function emptied(folder?: string): Promise<void> {
  await eventually('the journal is emptied', async () => (await segments(folder)).length === 0);
}

describe('the journal of a folder of blobs', () => {
  it('restores files that a crash of the machine took, emptied or cut, and is empty then', async () => {
    const store = await FolderBlobStore.open(root);
    const contents = ['gone', 'emptied', 'cut', 'kept'].map((text) => Buffer.from(text.repeat(99)));
    const [gone, emptyOne, cut] = await store.putMany(ORGANIZATION, contents);
    await rm(join(root, ORGANIZATION, gone!.sha256.slice(0, 2)), { recursive: true });
    await writeFile(pathOf(emptyOne!.sha256), '');
    await truncate(pathOf(cut!.sha256), 7);
    expect(await segments()).toHaveLength(1);

    const restored = await FolderBlobStore.open(root, { verifyOnRead: true });
    for (const content of contents) {
      const sha256 = createHash('sha256').update(content).digest('hex');
      expect(await restored.get(ORGANIZATION, sha256)).toEqual(content);
    }
    await emptied();
  });

  it('has what was durable before a torn record', async () => {
    const store = await FolderBlobStore.open(root);
    const { sha256 } = await store.put(ORGANIZATION, Buffer.from('whole'));
    const [segment] = await segments();
    // As another one would follow it, but for its last octets.
    const record = 8 + 16 + 32 + 4 + 'whole'.length;
    const bytes = await readFile(segment!);
    bytes.copyWithin(8 + record, 8, 8 + record - 2);
    await writeFile(segment!, bytes);
    await rm(pathOf(sha256));
    const restored = await FolderBlobStore.open(root);
    expect((await restored.get(ORGANIZATION, sha256)).toString()).toBe('whole');
  });

  it('writes anew what a crash left empty before it was in the journal', async () => {
    const store = await FolderBlobStore.open(root);
    const { sha256 } = await store.put(ORGANIZATION, Buffer.from('precious'));
    await store.delete(ORGANIZATION, sha256);
    await writeFile(pathOf(sha256), '');
    await store.put(ORGANIZATION, Buffer.from('precious'));
    expect((await store.get(ORGANIZATION, sha256)).toString()).toBe('precious');
  });

  it('holds content that another writer has just made', async () => {
    const [one, two] = [await FolderBlobStore.open(root), await FolderBlobStore.open(root)];
    await one.put(ORGANIZATION, Buffer.from('the same'));
    const [first] = await segments();
    const { sha256 } = await two.put(ORGANIZATION, Buffer.from('the same'));
    await rm(first!);
    await rm(pathOf(sha256));
    const restored = await FolderBlobStore.open(root);
    expect((await restored.get(ORGANIZATION, sha256)).toString()).toBe('the same');
  });

  it('goes on in a new segment when another process has taken over the old one', async () => {
    const store = await FolderBlobStore.open(root);
    await store.put(ORGANIZATION, Buffer.from('before'));
    await FolderBlobStore.open(root);
    await emptied();
    // Into the segment that is gone: its file is flushed itself.
    await store.put(ORGANIZATION, Buffer.from('meanwhile'));
    expect(await segments()).toEqual([]);
    const { sha256 } = await store.put(ORGANIZATION, Buffer.from('after'));
    await rm(pathOf(sha256));
    const restored = await FolderBlobStore.open(root);
    expect((await restored.get(ORGANIZATION, sha256)).toString()).toBe('after');
  });

  it('uses the file of an ended segment again, and none of its former records', async () => {
    const store = await FolderBlobStore.open(root);
    const contents = Array.from({ length: 5 }, (_, n) => Buffer.from(`${n}`.repeat(50)));
    const [, second] = await store.putMany(ORGANIZATION, contents);
    const [before] = await segments();
    const { ino } = await stat(before!);
    // Ends the segment.
    await store.delete(ORGANIZATION, second!.sha256);
    expect(await segments()).toEqual([]);
    const { sha256 } = await store.put(ORGANIZATION, Buffer.from('x'.repeat(50)));
    const [after] = await segments();
    expect((await stat(after!)).ino).toBe(ino);
    await rm(pathOf(sha256));
    const restored = await FolderBlobStore.open(root);
    expect(await restored.has(ORGANIZATION, sha256)).toBe(true);
    expect(await restored.has(ORGANIZATION, second!.sha256)).toBe(false);
  });

  it('does not bring back what was deleted', async () => {
    const store = await FolderBlobStore.open(root);
    const { sha256 } = await store.put(ORGANIZATION, Buffer.from('secret'));
    await store.delete(ORGANIZATION, sha256);
    expect(await (await FolderBlobStore.open(root)).has(ORGANIZATION, sha256)).toBe(false);
  });
});

describe('BlobJournal', () => {
  const blob = (text: string): JournaledBlob => {
    const content = Buffer.from(text);
    return {
      organizationId: ORGANIZATION,
      sha256: createHash('sha256').update(content).digest('hex'),
      content,
    };
  };
  const journalWith = async (options: Partial<BlobJournalOptions>) => {
    const flushed: string[] = [];
    const journal = new BlobJournal({
      folder: root,
      restore: async () => undefined,
      flush: async (blobs) => void flushed.push(...blobs.map(({ sha256 }) => sha256)),
      rewrite: async () => undefined,
      ...options,
    });
    await journal.recover();
    return { journal, flushed };
  };

  it('is forgotten without waiting for what others write meanwhile to settle', async () => {
    const written: string[] = [];
    const append = async (text: string): Promise<void> => {
      if (written.includes(text)) return;
      written.push(text);
      await journal.append([blob(text)]);
    };
    const { journal } = await journalWith({
      settleMs: 3_600_000,
      // Into another segment than the one that is being flushed, and into that one once it has another name.
      flush: () => append('while the checkpoint ends'),
      restore: () => append('while it is restored'),
    });
    await append('before');
    await journal.forget();
    expect(written).toHaveLength(3);
  });

  it.each([
    ['enough octets', { segmentBytes: 10, settleMs: 20 }],
    ['its time', { segmentMs: 20, settleMs: 0 }],
  ])('flushes and forgets a segment after %s', async (_, options) => {
    const { journal, flushed } = await journalWith(options);
    const [one, two] = [blob('one and more'), blob('two and more')];
    await journal.append([one]);
    await emptied(root);
    await journal.append([two]);
    await emptied(root);
    expect(flushed).toEqual([one.sha256, two.sha256]);
  });

  it('lets writers go on as soon as one of many segments is flushed', async () => {
    const { journal } = await journalWith({ segmentBytes: 1, settleMs: 60_000 });
    const begun = performance.now();
    for (let n = 0; n < 40; n += 1) await journal.append([blob(`blob ${n}`)]);
    expect(performance.now() - begun).toBeLessThan(10_000);
  });

  it('refuses to write while many segments cannot be flushed, and goes on once they can', async () => {
    let isFull = true;
    const fail = async () => {
      if (isFull) throw new Error('ENOSPC');
    };
    const { journal } = await journalWith({
      ...{ flush: fail, rewrite: fail },
      ...{ segmentBytes: 1, settleMs: 0, retryMs: 20, crowdedMs: 500 },
    });
    for (let n = 0; n < 10; n += 1) await journal.append([blob(`blob ${n}`)]);
    await expect(journal.append([blob('late')])).rejects.toThrow('no room');
    isFull = false;
    await journal.append([blob('late')]);
  });

  it('leaves nothing behind when a segment cannot be opened', async () => {
    const { journal } = await journalWith({});
    await rm(root, { recursive: true });
    await expect(journal.append([blob('one')])).rejects.toThrow('ENOENT');
    await mkdir(root);
    await journal.append([blob('one')]);
    expect(await segments(root)).toHaveLength(1);
  });

  it('a write that fails beside the end of a segment is told to its writer alone', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', note);
    const { journal } = await journalWith({ segmentMs: 1, settleMs: 0 });
    await journal.append([blob('one')]);
    // Both share a group: the timer is due before anything is written.
    for (const until = performance.now() + 5; performance.now() < until;);
    const broken = { ...blob('two'), content: null as unknown as Uint8Array };
    await expect(journal.append([broken])).rejects.toThrow();
    await emptied(root);
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  it('leaves alone what is no segment', async () => {
    await mkdir(join(root, 'lost+found'));
    await writeFile(join(root, 'notes.txt'), 'mine');
    await journalWith({});
    expect((await readdir(root)).sort()).toEqual(['lost+found', 'notes.txt']);
  });

  it('never repeats a flush that failed: writes the blobs again, until that succeeds', async () => {
    const errors: unknown[] = [];
    const rewritten: string[][] = [];
    let flushes = 0;
    const journal = new BlobJournal({
      folder: root,
      restore: async () => undefined,
      flush: async () => {
        flushes += 1;
        if (flushes === 1) throw new Error('EIO');
      },
      rewrite: async (blobs) => {
        rewritten.push(blobs.map(({ content }) => Buffer.from(content).toString()));
        if (rewritten.length === 1) throw new Error('ENOSPC');
      },
      retryMs: 20,
      onError: (error) => errors.push(error),
    });
    await journal.append([blob('one'), blob('two')]);
    await expect(journal.checkpoint()).rejects.toThrow('could not be flushed');
    expect(await segments(root)).toHaveLength(1);
    await emptied(root);
    expect(rewritten).toEqual([
      ['one', 'two'],
      ['one', 'two'],
    ]);
    expect({ flushes, errors }).toEqual({
      flushes: 1,
      errors: [new Error('EIO'), new Error('ENOSPC')],
    });
    await journal.checkpoint();
  });
});
