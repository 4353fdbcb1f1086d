import { FairSlots } from './fair-slots';

describe('slots', () => {
  let now = 0;
  const open = (mostSlow = 4) => {
    now = 0;
    return new FairSlots({
      most: 5,
      mostOfOne: 4,
      slowAfterMs: 1_000,
      mostSlow,
      now: () => now,
    });
  };

  it('are never all of one tenant', () => {
    const slots = open();
    for (let count = 0; count < 4; count += 1) slots.take('greedy');
    expect([slots.roomOf('greedy'), slots.roomOf('other'), slots.room()]).toEqual([0, 4, 1]);
    expect([...slots.rooms()]).toEqual([['greedy', 0]]);
  });

  it('are free again for others once their work is slow, and not for the same tenant', () => {
    const slots = open();
    for (let count = 0; count < 4; count += 1) slots.take('greedy');
    slots.take('other');
    expect([slots.room(), slots.freeInMs()]).toEqual([0, 1_000]);
    now = 1_000;
    expect(slots.room()).toBe(4);
    expect(slots.roomOf('greedy')).toBe(0);
    expect(slots.size).toBe(5);
  });

  it('stay taken when too much is slow', () => {
    const slots = open(2);
    for (let count = 0; count < 4; count += 1) slots.take('greedy');
    now = 5_000;
    expect(slots.room()).toBe(3);
    expect(slots.freeInMs()).toBeNull();
  });

  it('name first what has been slow for longest, of those who have most of it', () => {
    const slots = open();
    const first = slots.take('modest');
    now = 1;
    const greedy = [1, 2, 3].map(() => slots.take('greedy'));
    now = 500;
    slots.take('quick');
    now = 1_400;
    expect(slots.longestOfMost(2, () => false)).toEqual(greedy.slice(0, 2));
    expect(slots.longestOfMost(9, (slot) => slot === greedy[0])).toEqual([
      greedy[1],
      first,
      greedy[2],
    ]);
  });

  it('are given back once, quick or slow', () => {
    const slots = open();
    const [first, second] = [slots.take('a'), slots.take('a')];
    slots.release(first);
    slots.release(first);
    now = 2_000;
    expect(slots.room()).toBe(5);
    slots.release(second);
    expect([slots.size, slots.roomOf('a')]).toEqual([0, 4]);
    expect([...slots.rooms()]).toEqual([]);
  });
});
