import { once } from 'node:events';
import { createServer } from 'node:net';

afterAll(() => {
  throw new Error('the failure of the hook');
});

it('passes', async () => {
  await once(createServer().listen(0, '127.0.0.1'), 'listening');
});
