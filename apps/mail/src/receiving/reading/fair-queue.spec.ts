import { FairQueue } from './fair-queue';

const queueOf = (...items: string[]) => {
  const queue = new FairQueue<string>((item) => item[0]!);
  for (const item of items) queue.push(item);
  return queue;
};
const drain = (queue: FairQueue<string>, mayTake?: (key: string) => boolean) => {
  const taken: string[] = [];
  for (let item = queue.take(mayTake); item !== undefined; item = queue.take(mayTake)) {
    taken.push(item);
  }
  return taken;
};

describe('a fair queue', () => {
  it('takes from its keys in turns, in order within each', () => {
    const queue = queueOf('a1', 'a2', 'a3', 'b1', 'c1', 'c2');
    expect(queue.size).toBe(6);
    expect(drain(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
    expect(queue.size).toBe(0);
  });

  it('gives groups turns, however many keys they have', () => {
    const queue = new FairQueue<string>(
      (item) => item.slice(0, 2),
      (key) => key[0]!,
    );
    for (const item of ['a1-', 'a2-', 'a3-', 'a1+', 'b1-', 'b1+']) queue.push(item);
    expect([...queue.keys()]).toEqual(['a1', 'a2', 'a3', 'b1']);
    expect(drain(queue)).toEqual(['a1-', 'b1-', 'a2-', 'b1+', 'a3-', 'a1+']);
  });

  it('passes over keys that may not be taken, and knows what was put back or removed', () => {
    const queue = queueOf('a1', 'a2', 'b1');
    queue.putBack('b0');
    expect(queue.remove('a1')).toBe(true);
    expect(queue.remove('a1')).toBe(false);
    expect(drain(queue, (key) => key !== 'a')).toEqual(['b0', 'b1']);
    expect([...queue.keys()]).toEqual(['a']);
    expect(queue.takeAll()).toEqual(['a2']);
    expect(queue.size).toBe(0);
  });
});
