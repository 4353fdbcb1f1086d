import { BodyBudget } from './body-budget';

const CHUNK_COST = 256;

describe('the budget for bodies in memory', () => {
  it('is one for all requests of an organization, and another for the next one', () => {
    const budget = new BodyBudget(1_000 + 2 * CHUNK_COST);
    budget.share('one').add(500);
    const second = budget.share('one');
    second.add(500);
    expect(() => second.add(1)).toThrow(/Too many large requests/);
    expect(() => budget.share('other').add(1_000)).not.toThrow();
  });

  it('is free again when a request is over, once', () => {
    const budget = new BodyBudget(1_000 + CHUNK_COST);
    const [first, second] = [budget.share('one'), budget.share('one')];
    first.add(1_000);
    first.release();
    first.release();
    second.add(1_000);
    expect(() => first.add(1)).toThrow();
  });

  it('counts what a chunk costs besides its bytes', () => {
    const share = new BodyBudget(10 * CHUNK_COST).share('one');
    let chunks = 0;
    expect(() => {
      for (; ; chunks += 1) share.add(1);
    }).toThrow(expect.objectContaining({ kind: 'rate_limited', retryAfterSeconds: 1 }));
    expect(chunks).toBe(9);
  });

  it('keeps what was counted when a chunk is refused', () => {
    const budget = new BodyBudget(1_000);
    const share = budget.share('one');
    share.add(500);
    expect(() => share.add(500)).toThrow();
    share.release();
    expect(() => budget.share('one').add(1_000 - CHUNK_COST)).not.toThrow();
  });
});
