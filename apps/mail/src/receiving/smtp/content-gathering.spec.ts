import { ContentGathering, type ContentBudget } from './content-gathering';

const nothing = Buffer.alloc(0);

describe('gathering content', () => {
  it('gives back every octet in order, however small the pieces', () => {
    const budget: ContentBudget = { limit: 1_000_000, used: 0 };
    const gathering = new ContentGathering(1_000_000, [budget]);
    const whole = Buffer.from(Array.from({ length: 50_000 }, (_, index) => index % 251));
    for (let at = 0, size = 1; at < whole.length; at += size, size = ((size * 7 + at) % 13) + 1) {
      gathering.add(whole.subarray(at, at + size));
    }
    expect(gathering.take(Buffer.from('front')).subarray(5).equals(whole)).toBe(true);
    expect(budget.used).toBe(50_000);
    gathering.release();
    gathering.release();
    expect(budget.used).toBe(0);
  });

  it('forgets a message that is too large and gives its room back', () => {
    const budget: ContentBudget = { limit: 1000, used: 0 };
    const gathering = new ContentGathering(10, [budget]);
    gathering.add(Buffer.alloc(8));
    gathering.add(Buffer.alloc(8));
    gathering.add(Buffer.alloc(8));
    expect(gathering.tooLarge).toBe(true);
    expect(gathering.total).toBe(24);
    expect(budget.used).toBe(0);
    expect(gathering.take(nothing)).toHaveLength(0);
  });

  it('has room only as long as all its budgets have', () => {
    const [all, client] = [
      { limit: 100, used: 0 },
      { limit: 10, used: 0 },
    ];
    const gathering = new ContentGathering(100, [all, client]);
    gathering.add(Buffer.alloc(8));
    expect([all.used, client.used]).toEqual([8, 8]);
    gathering.add(Buffer.alloc(8));
    expect(gathering.overBudget).toBe(true);
    expect([all.used, client.used]).toEqual([0, 0]);
  });

  it('shares its budget with the others', () => {
    const budget: ContentBudget = { limit: 10, used: 0 };
    const first = new ContentGathering(100, [budget]);
    const second = new ContentGathering(100, [budget]);
    first.add(Buffer.alloc(8));
    second.add(Buffer.alloc(8));
    expect(first.overBudget).toBe(false);
    expect(second.overBudget).toBe(true);
    first.release();
    expect(budget.used).toBe(0);
  });
});
