import { connect } from 'node:net';
import { z } from 'zod';
import { eventually } from '@dak/testing/waiting';
import { defineProbe } from '../src/http/route';
import { startGateway, type GatewayUnderTest } from './gateway-under-test';

const MB = 1024 * 1024;
const LARGE = JSON.stringify({ text: 'x'.repeat(9.9 * MB) });

describe('large bodies of one organization', () => {
  let site: GatewayUnderTest;
  let other: string;
  let waiting = 0;
  let goOn: () => void = () => undefined;
  let mayGoOn: Promise<void>;

  beforeAll(async () => {
    site = await startGateway({
      routes: () => [
        defineProbe({ scopes: 'credential', holder: 'everybody' } as const, {
          method: 'POST',
          path: '/wait',
          summary: 'Wait with a body',
          tag: 'test',
          idempotency: 'none',
          request: { body: z.object({ text: z.string() }) },
          responses: { 204: { description: 'Waited' } },
          handler: async () => {
            waiting += 1;
            await mayGoOn;
            return { status: 204 };
          },
        }),
      ],
    });
    const { email, password } = site.seed.superadmin;
    const { body } = await site.client().post('/auth/login', { email, password });
    other = body.access_token;
  });
  afterAll(() => site.close());
  beforeEach(() => {
    waiting = 0;
    mayGoOn = new Promise((resolve) => (goOn = resolve));
  });

  const send = (credential: string, body: string) =>
    fetch(`${site.baseUrl}/api/v1/wait`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${credential}`, 'Content-Type': 'application/json' },
      body,
    });
  const waits = (count: number) =>
    eventually(
      () => `${count} bodies; ${waiting} have come`,
      () => waiting >= count,
    );

  it('are in memory six at once, those of others besides, and small ones', async () => {
    const first = Array.from({ length: 6 }, () => send(site.seed.apiKey, LARGE));
    await waits(6);
    const refused = await send(site.seed.apiKey, LARGE);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    const more = [send(other, LARGE), send(site.seed.apiKey, '{"text":"small"}')];
    await waits(8);
    goOn();
    for (const { status } of await Promise.all([...first, ...more])) expect(status).toBe(204);
    expect((await send(site.seed.apiKey, LARGE)).status).toBe(204);
  });

  it('count for more when they come byte by byte', async () => {
    const { hostname, port } = new URL(site.baseUrl);
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    socket.on('error', () => undefined);
    socket.write(
      `POST /api/v1/wait HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${site.seed.apiKey}\r\n` +
        'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    const bytes = '1\r\nx\r\n'.repeat(10_000);
    for (let sent = 0; sent < 300_000 && received === ''; sent += 10_000) {
      if (!socket.write(bytes))
        await eventually(() => received !== '' || !socket.writableNeedDrain);
    }
    await eventually(() => received);
    socket.destroy();
    expect(received).toContain('HTTP/1.1 429');
  });
});
