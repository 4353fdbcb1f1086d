import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderBlobStore } from '../src/folder-blob-store';

/** Paths whose flush fails once; the system then takes what was lost for written. */
const failing = new Set<string>();
jest.mock('../src/durable-files', () => {
  const actual = jest.requireActual<typeof import('../src/durable-files')>('../src/durable-files');
  return {
    ...actual,
    flushFile: async (path: string) => {
      if (failing.delete(path)) throw Object.assign(new Error('i/o error'), { code: 'EIO' });
      await actual.flushFile(path);
    },
  };
});

const ORGANIZATION = '0192f0c4-0000-7000-8000-000000000001';

describe('a blob whose flush fails', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'dak-failing-flush-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('is written into a new file before the journal forgets it', async () => {
    const errors: unknown[] = [];
    const store = await FolderBlobStore.open(root, { onError: (error) => errors.push(error) });
    const { sha256 } = await store.put(ORGANIZATION, Buffer.from('kept'));
    const { sha256: other } = await store.put(ORGANIZATION, Buffer.from('another'));
    const path = join(root, ORGANIZATION, sha256.slice(0, 2), sha256);
    const before = await stat(path);
    failing.add(path);
    // Ends the segment and flushes its blobs.
    await store.delete(ORGANIZATION, other);
    expect(errors).toEqual([expect.objectContaining({ code: 'EIO' })]);
    expect((await stat(path)).ino).not.toBe(before.ino);
    expect((await store.get(ORGANIZATION, sha256)).toString()).toBe('kept');
    expect(await readdir(join(root, 'incoming'))).toEqual([]);
  });
});
