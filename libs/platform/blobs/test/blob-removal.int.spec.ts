import { createHash, randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { slowPeer } from '@dak/testing/waiting';
import { FolderBlobStore } from '../src/folder-blob-store';

const ORGANIZATION = '0192f0c4-0000-7000-8000-000000000001';

/** References as a database has them: visible once their transaction has committed. */
class References {
  readonly committed = new Map<string, number>();
  readonly #running = new Set<Promise<void>>();

  /** A transaction that refers to the content. @returns false when it was refused */
  async refer(sha256: string, check: () => void): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#running.add(promise);
    try {
      await slowPeer(randomInt(4));
      check();
      await slowPeer(randomInt(4));
      this.committed.set(sha256, (this.committed.get(sha256) ?? 0) + 1);
      return true;
    } catch {
      return false;
    } finally {
      this.#running.delete(promise);
      resolve();
    }
  }

  release(sha256: string): void {
    const left = (this.committed.get(sha256) ?? 0) - 1;
    if (left > 0) this.committed.set(sha256, left);
    else this.committed.delete(sha256);
  }

  /** Waits for the transactions that run now. */
  async find(sha256s: readonly string[]): Promise<Set<string>> {
    await Promise.all([...this.#running]);
    return new Set(sha256s.filter((sha256) => this.committed.has(sha256)));
  }
}

const contentOf = (number: number) =>
  Buffer.from(`content ${number} `.repeat(number % 3 ? 5 : 9_000));
const nameOf = (content: Buffer) => createHash('sha256').update(content).digest('hex');

/**
 * In memory where there is such a folder: the test is about who meets whom. With a disk that takes 100 ms for a flush
 * one removal of journals took 2.7 s, and a disk that is busy with others takes longer.
 */
const FOLDER = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

describe('the removal of blobs', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(FOLDER, 'dak-blobs-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('never takes content away from a reference, while writers store the same content', async () => {
    // Two processes on one folder, each with its own journal.
    const stores = [await FolderBlobStore.open(root), await FolderBlobStore.open(root)];
    const references = new References();
    const until = Date.now() + 6_000;
    let stored = 0;
    const writer = async (store: FolderBlobStore) => {
      while (Date.now() < until) {
        const content = contentOf(randomInt(12));
        const sha256 = nameOf(content);
        await store.put(ORGANIZATION, content);
        await slowPeer(randomInt(3));
        const check = () => store.requirePresent(ORGANIZATION, [sha256]);
        if (!(await references.refer(sha256, check))) continue;
        stored += 1;
        for (const other of stores) {
          expect(nameOf(await other.get(ORGANIZATION, sha256))).toBe(sha256);
        }
        references.release(sha256);
      }
    };
    let removed = 0;
    const sweeper = async (store: FolderBlobStore) => {
      while (Date.now() < until) {
        const names = Array.from({ length: 12 }, (_, number) => nameOf(contentOf(number)));
        const unused = names.filter((sha256) => !references.committed.has(sha256));
        const gone = await store.removeUnreferenced(ORGANIZATION, unused, (aside) =>
          references.find(aside),
        );
        removed += gone.length;
        if (randomInt(20) === 0) await store.forgetJournals();
        await slowPeer(randomInt(5));
      }
    };
    await Promise.all([...stores.map(writer), ...stores.map(writer), sweeper(stores[0]!)]);
    expect(stored).toBeGreaterThan(50);
    expect(removed).toBeGreaterThan(20);
  }, 30_000);

  it('shows content that is set aside to readers, and finds it again after a crash', async () => {
    const store = await FolderBlobStore.open(root);
    const { sha256 } = await store.put(ORGANIZATION, Buffer.from('precious'));
    const interrupted = store.removeUnreferenced(ORGANIZATION, [sha256], async () => {
      expect((await store.get(ORGANIZATION, sha256)).toString()).toBe('precious');
      expect(() => store.requirePresent(ORGANIZATION, [sha256])).toThrow(/Try again/);
      throw new Error('the process is gone');
    });
    await expect(interrupted).rejects.toThrow('the process is gone');
    // A failure is no crash: nothing stays set aside.
    expect(() => store.requirePresent(ORGANIZATION, [sha256])).not.toThrow();

    const path = join(root, ORGANIZATION, sha256.slice(0, 2), sha256);
    await rename(path, `${path}.aside`);
    const next = await FolderBlobStore.open(root);
    expect((await next.get(ORGANIZATION, sha256)).toString()).toBe('precious');
    expect(await next.list(ORGANIZATION, sha256.slice(0, 2))).toEqual([sha256]);
    await next.putBack(ORGANIZATION, [sha256, '0'.repeat(64)]);
    expect(() => next.requirePresent(ORGANIZATION, [sha256])).not.toThrow();
    const keep = await next.removeUnreferenced(ORGANIZATION, [sha256], (aside) =>
      Promise.resolve(new Set(aside)),
    );
    expect(keep).toEqual([]);
    expect(() => next.requirePresent(ORGANIZATION, [sha256])).not.toThrow();
    const gone = await next.removeUnreferenced(ORGANIZATION, [sha256], () =>
      Promise.resolve(new Set()),
    );
    expect(gone).toEqual([{ sha256, sizeBytes: 8 }]);
    await expect(next.get(ORGANIZATION, sha256)).rejects.toMatchObject({ kind: 'not_found' });
  });

  it('leaves no copy in journals, also not in those of other processes', async () => {
    const [one, two] = [await FolderBlobStore.open(root), await FolderBlobStore.open(root)];
    const { sha256 } = await two.put(ORGANIZATION, Buffer.from('a secret of somebody'));
    await one.forgetJournals();
    await one.removeUnreferenced(ORGANIZATION, [sha256], () => Promise.resolve(new Set()));
    expect(await readdir(join(root, 'journal'))).toEqual([]);
    const { sha256: later } = await two.put(ORGANIZATION, Buffer.from('written after that'));
    const reopened = await FolderBlobStore.open(root);
    expect(await reopened.has(ORGANIZATION, later)).toBe(true);
    expect(await reopened.has(ORGANIZATION, sha256)).toBe(false);
  });
});
