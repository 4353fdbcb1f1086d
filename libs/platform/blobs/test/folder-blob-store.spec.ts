import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { eventually } from '@dak/testing/waiting';
import { FolderBlobStore } from '../src/folder-blob-store';
import { describeBlobStore } from './blob-store.contract';

const ORGANIZATION = '0192f0c4-0000-7000-8000-000000000001';

describe('FolderBlobStore', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'dak-blobs-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  describeBlobStore(() => FolderBlobStore.open(root));

  it('does not rewrite content that is there', async () => {
    const store = await FolderBlobStore.open(root);
    const { sha256 } = await store.put(ORGANIZATION, Buffer.from('once'));
    const path = join(root, ORGANIZATION, sha256.slice(0, 2), sha256);
    const before = await stat(path);
    await store.put(ORGANIZATION, Buffer.from('once'));
    expect((await stat(path)).ino).toBe(before.ino);
  });

  it('lets others have their turn while it names large content', async () => {
    const store = await FolderBlobStore.open(root);
    let turns = 0;
    let turn = setImmediate(function count() {
      // The first file appears once the name is known.
      if (readdirSync(join(root, 'incoming')).length > 0) return;
      turns += 1;
      turn = setImmediate(count);
    });
    const content = Buffer.alloc(20 * 1024 * 1024, 'x');
    const { sha256 } = await store.put(ORGANIZATION, content);
    clearImmediate(turn);
    expect(sha256).toBe(createHash('sha256').update(content).digest('hex'));
    expect(turns).toBeGreaterThanOrEqual(19);
  });

  it('notices damaged bytes when asked to verify', async () => {
    const store = await FolderBlobStore.open(root, { verifyOnRead: true });
    const { sha256 } = await store.put(ORGANIZATION, Buffer.from('precious'));
    await writeFile(join(root, ORGANIZATION, sha256.slice(0, 2), sha256), 'precioux');
    await expect(store.get(ORGANIZATION, sha256)).rejects.toMatchObject({ code: 'blob_damaged' });
  });

  it('removes temporary files older than an hour at start, younger ones not', async () => {
    await FolderBlobStore.open(root);
    const [old, young] = [join(root, 'incoming', 'old'), join(root, 'incoming', 'young')];
    await Promise.all([writeFile(old, 'x'), writeFile(young, 'x')]);
    const twoHoursAgo = Date.now() / 1000 - 7_200;
    await utimes(old, twoHoursAgo, twoHoursAgo);
    await FolderBlobStore.open(root);
    expect(await readdir(join(root, 'incoming'))).toEqual(['young']);
  });

  it('loses no acknowledged blob and shows no partial one when killed while writing', async () => {
    const writer = spawn(
      process.execPath,
      ['--import', 'tsx', join(__dirname, 'blob-writer.ts'), root, ORGANIZATION],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let acknowledged = '';
    writer.stdout.on('data', (data: Buffer) => (acknowledged += data.toString()));
    await eventually(() => acknowledged.length >= 65 * 60);
    writer.kill('SIGKILL');
    await once(writer, 'close');

    const store = await FolderBlobStore.open(root, { verifyOnRead: true });
    const names = acknowledged.split('\n').slice(0, -1);
    expect(names.length).toBeGreaterThan(50);
    for (const sha256 of names) await store.get(ORGANIZATION, sha256);

    const entries = await readdir(join(root, ORGANIZATION), {
      recursive: true,
      withFileTypes: true,
    });
    for (const entry of entries.filter((found) => found.isFile())) {
      const content = await readFile(join(entry.parentPath, entry.name));
      expect(createHash('sha256').update(content).digest('hex')).toBe(basename(entry.name));
    }
  });
});
