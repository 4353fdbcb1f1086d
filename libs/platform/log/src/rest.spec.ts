import { createRest } from './rest';

describe('the rest of a group between two reads', () => {
  it('is long until something concerns it, and again some seconds after the last that did', () => {
    let now = 0;
    const rest = createRest({ busyMs: 5, quietMs: 200 }, () => now);
    expect(rest.restMs()).toBe(200);
    rest.concerned();
    expect(rest.restMs()).toBe(5);
    now = 9_999;
    expect(rest.restMs()).toBe(5);
    now = 10_000;
    expect(rest.restMs()).toBe(200);
  });
});
