import { createServer } from 'node:net';
import { freePort } from './free-port';

describe('freePort', () => {
  it('gives ports that can be listened on, and that no outgoing connection is given', async () => {
    for (let n = 0; n < 20; n += 1) {
      const port = await freePort();
      expect(port).toBeGreaterThanOrEqual(20_000);
      expect(port).toBeLessThan(32_768);
      const server = createServer();
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject).listen(port, '127.0.0.1', resolve);
      });
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('says why a host has none', async () => {
    await expect(freePort('192.0.2.1')).rejects.toMatchObject({ code: 'EADDRNOTAVAIL' });
  });
});
