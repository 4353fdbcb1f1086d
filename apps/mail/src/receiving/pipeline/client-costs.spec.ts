import { createClientCosts } from './client-costs';

describe('what the mail of clients costs', () => {
  it('names clients beyond their budget, the worst first, until a quiet minute has passed', () => {
    let time = 0;
    const costs = createClientCosts(10_000, () => time);
    costs.note('a', 9_000);
    costs.note('b', 4_000);
    costs.note('b', 8_000);
    costs.note('c', 30_000);
    expect(costs.expensive()).toEqual(['c', 'b']);
    time = 30_000;
    expect(costs.expensive()).toEqual(['c']);
    time = 120_000;
    expect(costs.expensive()).toEqual([]);
  });

  it('stays bounded however many clients there are', () => {
    const costs = createClientCosts(1_000, () => 0);
    for (let client = 0; client < 25_000; client += 1) costs.note(String(client), 2_000);
    expect(costs.expensive()).toHaveLength(100);
  });
});
