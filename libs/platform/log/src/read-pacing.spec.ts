import { createReadPacing } from './read-pacing';

describe('the pause of a group between two reads', () => {
  it('is long until an event is relevant, and again some seconds after the last relevant one', () => {
    let now = 0;
    const pacing = createReadPacing({ busyMs: 5, quietMs: 200 }, () => now);
    expect(pacing.pauseMs()).toBe(200);
    pacing.relevant();
    expect(pacing.pauseMs()).toBe(5);
    now = 9_999;
    expect(pacing.pauseMs()).toBe(5);
    now = 10_000;
    expect(pacing.pauseMs()).toBe(200);
  });
});
