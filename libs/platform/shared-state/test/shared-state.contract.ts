import { eventually, timePasses } from '@dak/testing/waiting';
import type { SharedState } from '../src/shared-state';

/** What every driver has to do. `open` returns two handles on the same state. */
export function describeSharedState(open: () => Promise<[SharedState, SharedState]>): void {
  let one: SharedState;
  let other: SharedState;

  beforeAll(async () => {
    [one, other] = await open();
  });
  afterAll(async () => {
    await one.close();
    if (other !== one) await other.close();
  });

  describe('values', () => {
    it('are read back by every replica until deleted', async () => {
      await one.set('value', 'ä\n1', 60_000);
      expect(await other.get('value')).toBe('ä\n1');
      await other.delete('value');
      expect(await one.get('value')).toBeNull();
    });

    it('expire', async () => {
      await one.set('brief', '1', 30);
      await timePasses(60);
      expect(await one.get('brief')).toBeNull();
    });

    it('are replaced together with their time to live', async () => {
      await one.set('replaced', '1', 40);
      await one.set('replaced', '2', 60_000);
      await timePasses(70);
      expect(await one.get('replaced')).toBe('2');
    });

    it('are stored once when stored only if absent', async () => {
      const stored = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          (i % 2 ? one : other).setIfAbsent('once', String(i), 60_000),
        ),
      );
      expect(stored.filter(Boolean)).toHaveLength(1);
      expect(await one.get('once')).toBe(String(stored.indexOf(true)));
    });

    it('can be stored again after the first has expired', async () => {
      expect(await one.setIfAbsent('again', 'a', 20)).toBe(true);
      expect(await one.setIfAbsent('again', 'b', 60_000)).toBe(false);
      await timePasses(50);
      expect(await one.setIfAbsent('again', 'c', 60_000)).toBe(true);
    });
  });

  describe('token bucket', () => {
    it('takes tokens back, but never holds more than the limit', async () => {
      await one.consume('back', 3, 600_000, 3);
      expect(await other.consume('back', 3, 600_000)).toMatchObject({ allowed: false });
      expect(await other.consume('back', 3, 600_000, -2)).toMatchObject({ allowed: true });
      expect(await one.consume('back', 3, 600_000, 2)).toMatchObject({ allowed: true });
      expect(await one.consume('back', 3, 600_000)).toMatchObject({ allowed: false });
      await one.consume('back', 3, 600_000, -50);
      expect(await one.consume('back', 3, 600_000, 0)).toMatchObject({ remaining: 3 });
      expect(await one.consume('back', 3, 600_000, 3)).toMatchObject({ allowed: true });
      expect(await one.consume('back', 3, 600_000)).toMatchObject({ allowed: false });
    });

    it('allows exactly the limit at once, whoever asks', async () => {
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, i) => (i % 2 ? one : other).consume('burst', 10, 600_000)),
      );
      expect(answers.filter((answer) => answer.allowed)).toHaveLength(10);
      const left = answers.filter((answer) => answer.allowed).map((answer) => answer.remaining);
      expect(left.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    });

    it('says how much is left, when it is full and when to come back', async () => {
      const first = await one.consume('report', 4, 40_000, 3);
      expect(first).toMatchObject({ allowed: true, remaining: 1, retryAfterMs: 0 });
      expect(first.resetMs).toBeGreaterThan(29_000);
      expect(first.resetMs).toBeLessThanOrEqual(30_000);
      const second = await one.consume('report', 4, 40_000, 2);
      expect(second).toMatchObject({ allowed: false, remaining: 1 });
      expect(second.retryAfterMs).toBeGreaterThan(9_000);
      expect(second.retryAfterMs).toBeLessThanOrEqual(10_000);
    });

    it('takes nothing for a refused request', async () => {
      await one.consume('refused', 2, 600_000, 1);
      await one.consume('refused', 2, 600_000, 2);
      expect(await one.consume('refused', 2, 600_000, 1)).toMatchObject({ allowed: true });
    });

    it('refills evenly over the window', async () => {
      await one.consume('refill', 10, 500, 10);
      expect(await one.consume('refill', 10, 500)).toMatchObject({ allowed: false });
      await timePasses(110);
      expect(await one.consume('refill', 10, 500)).toMatchObject({ allowed: true });
    });

    it('never allows a cost above the limit', async () => {
      expect(await one.consume('huge', 3, 1_000, 4)).toMatchObject({
        allowed: false,
        remaining: 3,
        retryAfterMs: 1_000,
      });
    });
  });

  describe('leases', () => {
    it('have one holder, for whom acquiring again is true', async () => {
      expect(await one.acquire('lease', 'a', 60_000)).toBe(true);
      expect(await other.acquire('lease', 'b', 60_000)).toBe(false);
      expect(await other.acquire('lease', 'a', 60_000)).toBe(true);
    });

    it('are extended and released by their holder only', async () => {
      await one.acquire('owned', 'a', 60_000);
      expect(await one.extend('owned', 'b', 60_000)).toBe(false);
      expect(await one.release('owned', 'b')).toBe(false);
      expect(await one.extend('owned', 'a', 60_000)).toBe(true);
      expect(await one.release('owned', 'a')).toBe(true);
      expect(await other.acquire('owned', 'b', 60_000)).toBe(true);
    });

    it('pass on when they expire, and the former holder cannot extend', async () => {
      await one.acquire('expiring', 'a', 30);
      await timePasses(60);
      expect(await one.extend('expiring', 'a', 60_000)).toBe(false);
      expect(await other.acquire('expiring', 'b', 60_000)).toBe(true);
    });
  });

  describe('messages', () => {
    it('reach every replica, the publisher included', async () => {
      const heard: string[] = [];
      const leave = await Promise.all([
        one.subscribe('news', (message) => heard.push(`one ${message}`)),
        other.subscribe('news', (message) => heard.push(`other ${message}`)),
      ]);
      await one.publish('news', 'hello');
      await eventually(() => heard.length === 2);
      expect(heard.sort()).toEqual(['one hello', 'other hello']);
      await Promise.all(leave.map((unsubscribe) => unsubscribe()));
    });

    it('stop after unsubscribing, for that listener only', async () => {
      const heard: string[] = [];
      const leaveFirst = await one.subscribe('updates', (message) =>
        heard.push(`first ${message}`),
      );
      const leaveSecond = await one.subscribe('updates', (message) =>
        heard.push(`second ${message}`),
      );
      await leaveFirst();
      await other.publish('updates', 'x');
      await eventually(() => heard.length > 0);
      expect(heard).toEqual(['second x']);
      await leaveSecond();
    });

    it('do not leak into other channels', async () => {
      const heard: string[] = [];
      const leave = await one.subscribe('here', (message) => heard.push(message));
      await one.publish('there', 'no');
      await one.publish('here', 'yes');
      await eventually(() => heard.length > 0);
      expect(heard).toEqual(['yes']);
      await leave();
    });
  });

  it('answers a ping', async () => {
    await expect(one.ping()).resolves.toBeUndefined();
  });
}
