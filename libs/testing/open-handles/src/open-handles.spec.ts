import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { leftOpen, openHandles } from './open-handles';

describe('what a suite leaves open', () => {
  it('is found until it is closed: a server, a child', async () => {
    const before = openHandles();
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    const found = await leftOpen(before, 30);
    child.kill();
    setTimeout(() => server.close(), 50);
    expect(found.sort()).toEqual(['ProcessWrap', 'TCPServerWrap']);
    expect(await leftOpen(before, 5_000)).toEqual([]);
  });

  it('is nothing that ends by itself, or keeps no process alive', async () => {
    const before = openHandles();
    const timer = setTimeout(() => undefined, 60_000);
    const server = createServer().unref();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    expect(await leftOpen(before, 0)).toEqual([]);
    clearTimeout(timer);
    server.close();
  });
});
