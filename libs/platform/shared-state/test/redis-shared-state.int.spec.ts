import { once } from 'node:events';
import { createServer, connect, type Socket } from 'node:net';
import { createClient } from 'redis';
import { freePort } from '@dak/platform/lifecycle';
import { describeWithRedis } from '@dak/testing/redis';
import { eventually } from '@dak/testing/waiting';
import { createSharedState } from '../src/create-shared-state';
import { RedisSharedState } from '../src/redis-shared-state';
import { describeSharedState } from './shared-state.contract';

/** A proxy before Redis that can be cut (connections reset) or frozen (nothing passes, nothing closes). */
async function faultyProxy(target: URL) {
  const sockets = new Set<Socket>();
  let mode: 'open' | 'cut' | 'frozen' = 'open';
  const server = createServer((near) => {
    if (mode === 'cut') return void near.destroy();
    const far = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (data) => mode === 'open' && to.write(data));
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    url: `redis://127.0.0.1:${port}`,
    set: (next: typeof mode) => {
      mode = next;
      if (next === 'cut') for (const socket of sockets) socket.destroy();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

describeWithRedis('RedisSharedState', (opened) => {
  describeSharedState(async () => {
    const options = await opened();
    return Promise.all([RedisSharedState.connect(options), RedisSharedState.connect(options)]);
  });

  it('refuses to start without Redis, with one sentence', async () => {
    const url = `redis://127.0.0.1:${await freePort()}`;
    await expect(createSharedState({ url, keyPrefix: '' })).rejects.toMatchObject({
      kind: 'unavailable',
    });
  });

  it('fails fast while disconnected and recovers with its subscriptions', async () => {
    const { url, keyPrefix } = await opened();
    const proxy = await faultyProxy(new URL(url));
    const state = await RedisSharedState.connect({ url: proxy.url, keyPrefix });
    const heard: string[] = [];
    await state.subscribe('news', (message) => heard.push(message));

    proxy.set('cut');
    const started = Date.now();
    await expect(state.get('a')).rejects.toMatchObject({ kind: 'unavailable' });
    expect(Date.now() - started).toBeLessThan(500);
    await expect(state.ping()).rejects.toMatchObject({ kind: 'unavailable' });

    proxy.set('open');
    await eventually(async () => {
      await state.publish('news', 'back');
      return heard.includes('back');
    });
    await state.close();
    proxy.close();
  });

  it('gives up on a connection that went silent', async () => {
    const { url, keyPrefix } = await opened();
    const proxy = await faultyProxy(new URL(url));
    const state = await RedisSharedState.connect({
      url: proxy.url,
      keyPrefix,
      commandTimeoutMs: 200,
    });
    proxy.set('frozen');
    await expect(state.get('a')).rejects.toMatchObject({ kind: 'unavailable' });
    // What a request asks next does not wait as well.
    const started = performance.now();
    for (let command = 0; command < 4; command += 1) {
      await expect(state.get('a')).rejects.toMatchObject({ kind: 'unavailable' });
    }
    expect(performance.now() - started).toBeLessThan(200);
    await state.close();
    proxy.close();
  });

  it('goes on after Redis has forgotten its scripts', async () => {
    const options = await opened();
    const state = await RedisSharedState.connect(options);
    const admin = createClient({ url: options.url });
    await admin.connect();
    expect(await state.acquire('lease', 'a', 60_000)).toBe(true);
    await admin.scriptFlush();
    expect(await state.acquire('lease', 'b', 60_000)).toBe(false);
    admin.destroy();
    await state.close();
  });
});
