import { eventually } from '@dak/testing/waiting';
import { watchEventLoopLag } from './event-loop-lag';

describe('the event loop lag', () => {
  it('shows while the loop is blocked and after, and fades', async () => {
    const lag = watchEventLoopLag();
    const until = performance.now() + 500;
    while (performance.now() < until);
    const blocked = lag.milliseconds();
    expect(blocked).toBeGreaterThan(300);
    await eventually(() => lag.milliseconds() < blocked / 2);
    lag.stop();
  });
});
