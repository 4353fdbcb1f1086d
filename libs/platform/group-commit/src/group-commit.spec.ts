import { eventually, timePasses } from '@dak/testing/waiting';
import { createGroupCommit } from './group-commit';

/** A flush that the test ends. */
function manualFlush() {
  const groups: number[][] = [];
  const ends: { resolve(): void; reject(error: Error): void }[] = [];
  const flush = (items: number[]): Promise<string[]> => {
    groups.push(items);
    return new Promise((resolve, reject) => {
      ends.push({ resolve: () => resolve(items.map((item) => `r${item}`)), reject });
    });
  };
  return { groups, ends, flush };
}

const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

describe('group commit', () => {
  it('puts what arrives during one flush into the next', async () => {
    const { groups, ends, flush } = manualFlush();
    const commit = createGroupCommit(flush);
    const first = commit.submit(1);
    await turn();
    const others = [2, 3, 4].map((item) => commit.submit(item));
    await turn();
    expect(groups).toEqual([[1]]);
    expect(commit.waiting).toBe(3);
    ends[0]!.resolve();
    expect(await first).toBe('r1');
    await turn();
    expect(groups).toEqual([[1], [2, 3, 4]]);
    ends[1]!.resolve();
    expect(await Promise.all(others)).toEqual(['r2', 'r3', 'r4']);
  });

  it('takes together what arrives in the same turn', async () => {
    const { groups, flush } = manualFlush();
    const commit = createGroupCommit(flush);
    void commit.submit(1);
    void commit.submit(2);
    await turn();
    expect(groups).toEqual([[1, 2]]);
  });

  it('waits for company after a flush of several items, and never with a lone one', async () => {
    const { groups, ends, flush } = manualFlush();
    const commit = createGroupCommit(flush, { gatherMs: 30 });
    void commit.submit(1);
    void commit.submit(2);
    await turn();
    ends[0]!.resolve();
    await turn();
    void commit.submit(3);
    await turn();
    expect(groups).toEqual([[1, 2]]);
    void commit.submit(4);
    await eventually(() => groups.length === 2);
    expect(groups).toEqual([
      [1, 2],
      [3, 4],
    ]);
    ends[1]!.resolve();
    // Longer than a group is gathered.
    await timePasses(60);
    void commit.submit(5);
    await turn();
    expect(groups).toHaveLength(3);
    ends[2]!.resolve();
    await turn();
    void commit.submit(6);
    await turn();
    expect(groups).toHaveLength(4);
    ends[3]!.resolve();
    await commit.idle();
  });

  it('rejects only the group whose flush failed', async () => {
    const { ends, flush } = manualFlush();
    const commit = createGroupCommit(flush);
    const failing = commit.submit(1);
    await turn();
    const next = commit.submit(2);
    ends[0]!.reject(new Error('disk full'));
    await expect(failing).rejects.toThrow('disk full');
    await turn();
    ends[1]!.resolve();
    expect(await next).toBe('r2');
  });

  it('rejects a group whose flush throws at once or loses a result', async () => {
    const throwing = createGroupCommit<number, number>(() => {
      throw new Error('closed');
    });
    await expect(throwing.submit(1)).rejects.toThrow('closed');
    const short = createGroupCommit<number, number>(async () => []);
    await expect(short.submit(1)).rejects.toThrow('0 results for 1 items');
  });

  it('limits a group by items', async () => {
    const { groups, flush } = manualFlush();
    const commit = createGroupCommit(flush, { maxItems: 2 });
    for (const item of [1, 2, 3]) void commit.submit(item);
    await turn();
    expect(groups).toEqual([[1, 2]]);
    expect(commit.waiting).toBe(1);
  });

  it('limits a group by octets and lets a larger item go alone', async () => {
    const { groups, ends, flush } = manualFlush();
    const commit = createGroupCommit(flush, { maxBytes: 10, size: (item) => item });
    for (const item of [99, 4, 6, 1]) void commit.submit(item);
    await turn();
    ends[0]!.resolve();
    await turn();
    ends[1]!.resolve();
    await turn();
    expect(groups).toEqual([[99], [4, 6], [1]]);
  });

  it('runs two flushes at the same time when told to', async () => {
    const { groups, ends, flush } = manualFlush();
    const commit = createGroupCommit(flush, { maxItems: 1, concurrency: 2 });
    const results = [1, 2, 3].map((item) => commit.submit(item));
    await turn();
    expect(groups).toEqual([[1], [2]]);
    ends[1]!.resolve();
    await turn();
    expect(groups).toEqual([[1], [2], [3]]);
    ends[0]!.resolve();
    ends[2]!.resolve();
    expect(await Promise.all(results)).toEqual(['r1', 'r2', 'r3']);
  });

  it('is idle when everything is flushed', async () => {
    const { ends, flush } = manualFlush();
    const commit = createGroupCommit(flush);
    await commit.idle();
    void commit.submit(1);
    let idle = false;
    const waiting = commit.idle().then(() => {
      idle = true;
    });
    await turn();
    expect(idle).toBe(false);
    ends[0]!.resolve();
    await waiting;
  });
});
