import { eventually } from '@dak/testing/waiting';
import { PollingLoop } from './polling-loop';

const LONG_MS = 60_000;

describe('a polling loop', () => {
  let loop: PollingLoop;
  const errors: unknown[] = [];
  const begin = (turn: () => Promise<number>) => {
    errors.length = 0;
    loop = new PollingLoop(turn, (error) => errors.push(error));
    loop.start();
  };
  afterEach(() => loop.stop());

  it('waits as long as a turn says', async () => {
    const waits = [0, 30, LONG_MS];
    const at: number[] = [];
    begin(async () => {
      at.push(performance.now());
      return waits[at.length - 1]!;
    });
    await eventually(() => at.length === 3);
    expect(at[1]! - at[0]!).toBeLessThan(25);
    expect(at[2]! - at[1]!).toBeGreaterThanOrEqual(29);
  });

  it('ends a wait when there is news, and remembers what comes during a turn', async () => {
    let turns = 0;
    begin(async () => {
      turns += 1;
      if (turns === 2) loop.wake();
      return LONG_MS;
    });
    await eventually(() => turns === 1);
    loop.wake();
    await eventually(() => turns === 3);
  });

  it.each([
    ['longer each time', null, [49, 99, 199]],
    ['at least 50 ms, however much news there is', 1, [49, 49, 49]],
  ])('backs off after failures: %s', async (_, newsEveryMs, least) => {
    const at: number[] = [];
    begin(async () => {
      at.push(performance.now());
      if (at.length < 4) throw new Error(`failure ${at.length}`);
      return LONG_MS;
    });
    const news = newsEveryMs === null ? null : setInterval(() => loop.wake(), newsEveryMs);
    await eventually(() => at.length >= 4);
    if (news !== null) clearInterval(news);
    for (const [turn, ms] of least.entries()) {
      expect(at[turn + 1]! - at[turn]!).toBeGreaterThanOrEqual(ms);
    }
    expect(errors).toHaveLength(3);
  });

  it('stops at once while it waits, and after the turn that is running', async () => {
    let release: () => void = () => undefined;
    let hasEnded = false;
    begin(async () => {
      await new Promise<void>((resolve) => (release = resolve));
      hasEnded = true;
      return LONG_MS;
    });
    const stopped = loop.stop();
    expect(loop.isStopping).toBe(true);
    release();
    await stopped;
    expect(hasEnded).toBe(true);
  });
});
