import { createHash, randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { BlobStore } from '../src/blob-store';

const ONE = '0192f0c4-0000-7000-8000-000000000001';
const TWO = '0192f0c4-0000-7000-8000-000000000002';
const ABSENT = '0'.repeat(64);

async function* chunks(...parts: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}

/** What every driver has to do. */
export function describeBlobStore(open: () => Promise<BlobStore>): void {
  let store: BlobStore;
  beforeEach(async () => {
    store = await open();
  });

  it('names content by its sha256 and gives back the very bytes', async () => {
    const content = randomBytes(5_000);
    const reference = await store.put(ONE, content);
    const sha256 = createHash('sha256').update(content).digest('hex');
    expect(reference).toEqual({ sha256, sizeBytes: 5_000 });
    expect((await store.get(ONE, sha256)).equals(content)).toBe(true);
    expect((await buffer(await store.stream(ONE, sha256))).equals(content)).toBe(true);
    expect(await store.has(ONE, sha256)).toBe(true);
  });

  it('stores empty content', async () => {
    const { sha256, sizeBytes } = await store.put(ONE, new Uint8Array());
    expect(sizeBytes).toBe(0);
    expect(await store.get(ONE, sha256)).toHaveLength(0);
  });

  it('keeps tenants apart even for equal content', async () => {
    const { sha256 } = await store.put(ONE, Buffer.from('the same'));
    expect(await store.has(TWO, sha256)).toBe(false);
    await expect(store.get(TWO, sha256)).rejects.toMatchObject({ kind: 'not_found' });
    await store.put(TWO, Buffer.from('the same'));
    await store.delete(TWO, sha256);
    expect(await store.has(ONE, sha256)).toBe(true);
  });

  it('answers putMany in the order of the contents, equal ones included', async () => {
    const contents = ['a', 'b', 'a', 'c'].map((text) => Buffer.from(text));
    const references = await store.putMany(ONE, contents);
    expect(references.map(({ sha256 }) => sha256)).toEqual(
      contents.map((content) => createHash('sha256').update(content).digest('hex')),
    );
    for (const [i, { sha256 }] of references.entries()) {
      expect(await store.get(ONE, sha256)).toEqual(contents[i]);
    }
  });

  it('accepts the same content from many writers at once', async () => {
    const content = randomBytes(100_000);
    const references = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        i % 2 ? store.put(ONE, content) : store.putStream(ONE, chunks(content), 100_000),
      ),
    );
    expect(new Set(references.map(({ sha256 }) => sha256)).size).toBe(1);
    expect((await store.get(ONE, references[0]!.sha256)).equals(content)).toBe(true);
  });

  it('stores a stream in chunks under the same name as the whole', async () => {
    const reference = await store.putStream(ONE, chunks(Buffer.from('he'), Buffer.from('llo')), 5);
    expect(reference).toEqual(await store.put(ONE, Buffer.from('hello')));
  });

  it('refuses a stream beyond its limit and keeps nothing of it', async () => {
    const parts = [Buffer.from('he'), Buffer.from('llo')];
    await expect(store.putStream(ONE, chunks(...parts), 4)).rejects.toMatchObject({
      kind: 'too_large',
    });
    const sha256 = createHash('sha256').update('hello').digest('hex');
    expect(await store.has(ONE, sha256)).toBe(false);
  });

  it('keeps nothing of a stream that breaks off', async () => {
    const broken = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('hello');
      throw new Error('connection lost');
    };
    await expect(store.putStream(ONE, broken(), 100)).rejects.toThrow('connection lost');
    const sha256 = createHash('sha256').update('hello').digest('hex');
    expect(await store.has(ONE, sha256)).toBe(false);
  });

  it('deletes once and for all, and deleting again is no error', async () => {
    const { sha256 } = await store.put(ONE, Buffer.from('gone'));
    await store.delete(ONE, sha256);
    await store.delete(ONE, sha256);
    expect(await store.has(ONE, sha256)).toBe(false);
    await store.put(ONE, Buffer.from('gone'));
    expect(await store.has(ONE, sha256)).toBe(true);
  });

  it('reports absent blobs as not found', async () => {
    await expect(store.get(ONE, ABSENT)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(store.stream(ONE, ABSENT)).rejects.toMatchObject({ kind: 'not_found' });
  });

  it.each([
    ['../../etc', ABSENT],
    ['', ABSENT],
    [`${ONE}/..`, ABSENT],
    [ONE, '../../../etc/passwd'],
    [ONE, `${'0'.repeat(63)}/`],
    [ONE, 'A'.repeat(64)],
    [ONE, `${ABSENT}\n`],
  ])('refuses the address %j %j', async (organizationId, sha256) => {
    await expect(store.get(organizationId, sha256)).rejects.toMatchObject({ kind: 'invalid' });
    await expect(store.delete(organizationId, sha256)).rejects.toMatchObject({ kind: 'invalid' });
  });

  it('refuses to write for anything but an organization', async () => {
    const content = Buffer.from('x');
    await expect(store.put('..', content)).rejects.toMatchObject({ kind: 'invalid' });
    await expect(store.putStream('../x', chunks(content), 9)).rejects.toMatchObject({
      kind: 'invalid',
    });
  });
}
