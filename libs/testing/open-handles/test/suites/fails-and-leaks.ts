import { once } from 'node:events';
import { createServer } from 'node:net';

describe('a server', () => {
  it('is not closed', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    expect('the failure of the test').toBe('shown');
  });
});
