import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { OpenHandles } from './open-handles';

describe('what a suite leaves open', () => {
  let handles: OpenHandles;

  beforeEach(() => {
    handles = new OpenHandles();
  });

  afterEach(() => handles.close());

  it('is found until it is closed: a server, a child', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = JSON.stringify(server.address());
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    const found = await handles.leftOpen(30);
    child.kill();
    setTimeout(() => server.close(), 50);
    expect(found.sort()).toEqual([`a server at ${address}`, 'the process sleep 60']);
    expect(await handles.leftOpen(5_000)).toEqual([]);
  });

  it('is found beside what was open before, and has ended since', async () => {
    const former = spawn('sleep', ['60'], { stdio: 'ignore' });
    const later = new OpenHandles();
    former.kill();
    await once(former, 'exit');
    const child = spawn('sleep', ['61'], { stdio: 'ignore' });
    expect(await later.leftOpen(30)).toEqual(['the process sleep 61']);
    child.kill();
    expect(await later.leftOpen(5_000)).toEqual([]);
    later.close();
  });

  it('is nothing that ends by itself, or keeps no process alive', async () => {
    const timer = setTimeout(() => undefined, 60_000);
    const server = createServer().unref();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    expect(await handles.leftOpen(0)).toEqual([]);
    clearTimeout(timer);
    server.close();
  });
});
