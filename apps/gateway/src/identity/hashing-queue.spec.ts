import { HashingQueue } from './hashing-queue';

const turn = () => new Promise(setImmediate);

describe('the queue of passwords', () => {
  it('lets few work at once and the rest wait in their order', async () => {
    const queue = new HashingQueue({ atOnce: 2, waiting: 10 });
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const work = (n: number) =>
      queue.run(() => {
        begun.push(n);
        return new Promise<number>((resolve) => ends.push(() => resolve(n)));
      });
    const all = [0, 1, 2, 3].map(work);
    await turn();
    expect(begun).toEqual([0, 1]);
    ends[1]!();
    await turn();
    expect(begun).toEqual([0, 1, 2]);
    // Whoever comes between two that wait does not overtake.
    ends[0]!();
    all.push(work(4));
    await turn();
    expect(begun).toEqual([0, 1, 2, 3]);
    ends[2]!();
    await turn();
    ends[3]!();
    ends[4]!();
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4]);
  });

  it('sends away at once who comes when too many wait', async () => {
    const queue = new HashingQueue({ atOnce: 1, waiting: 1 });
    const held = Promise.withResolvers<void>();
    const [first, second] = [queue.run(() => held.promise), queue.run(async () => 'second')];
    await expect(queue.run(async () => 'third')).rejects.toMatchObject({
      kind: 'unavailable',
      retryAfterSeconds: 2,
    });
    held.resolve();
    await first;
    expect(await second).toBe('second');
    expect(await queue.run(async () => 'fourth')).toBe('fourth');
  });

  it('frees its place when work fails', async () => {
    const queue = new HashingQueue({ atOnce: 1, waiting: 1 });
    const failing = queue.run(() => Promise.reject(new Error('no memory')));
    const next = queue.run(async () => 'next');
    await expect(failing).rejects.toThrow('no memory');
    expect(await next).toBe('next');
  });
});
