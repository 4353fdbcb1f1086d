import { connect } from 'node:net';
import { eventually } from '@dak/testing/waiting';
import { defineProbe } from '../src/http/route';
import { startGateway, type GatewayUnderTest } from './gateway-under-test';

const everybody = { scopes: 'public', holder: 'everybody' } as const;

describe('a body that comes slowly', () => {
  let site: GatewayUnderTest;

  beforeAll(async () => {
    site = await startGateway({
      bodyTimes: { idleMs: 300, jsonMs: 900 },
      routes: () => [
        defineProbe(everybody, {
          method: 'POST',
          path: '/stream',
          summary: 'Count bytes',
          tag: 'test',
          bodyKind: 'stream',
          consumes: ['*/*'],
          timeoutMs: 2_000,
          responses: { 200: { description: 'Counted' } },
          handler: async ({ bodyStream }) => {
            let bytes = 0;
            for await (const chunk of bodyStream) bytes += chunk.length;
            return { status: 200, body: { bytes } };
          },
        }),
      ],
    });
  });
  afterAll(async () => {
    await site.close();
  });

  /** Sends a byte every so often until all are sent or the socket is closed. */
  function trickle(path: string, everyMs: number, count: number) {
    const { hostname, port } = new URL(site.baseUrl);
    const socket = connect(Number(port), hostname);
    let received = '';
    let sent = 0;
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    socket.on('error', () => undefined);
    const begun = performance.now();
    const closed = new Promise<number>((resolve) =>
      socket.once('close', () => resolve(performance.now() - begun)),
    );
    socket.write(
      `POST /api/v1${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${count}\r\n\r\n`,
    );
    const timer = setInterval(() => {
      if (sent < count) socket.write('1');
      sent += 1;
    }, everyMs);
    socket.once('close', () => clearInterval(timer));
    return { socket, received: () => received, closed };
  }

  it('may take its time on a stream while something comes', async () => {
    const { received, socket } = trickle('/stream', 150, 8);
    await eventually(() => received().includes('{"bytes":8}'));
    socket.destroy();
  });

  it.each([
    ['a stream falls silent', '/stream', 5_000, 2],
    ['a stream takes longer than its route allows', '/stream', 100, 1_000],
    ['JSON falls silent', '/auth/login', 5_000, 2],
    ['JSON takes longer than any JSON may', '/auth/login', 100, 1_000],
  ])('gets 408 and its socket is closed when %s', async (_, path, everyMs, count) => {
    const { received, closed } = trickle(path, everyMs, count);
    expect(await closed).toBeLessThan(4_500);
    expect(received()).toContain('HTTP/1.1 408');
    expect(received()).toContain('X-Error-Code: request_timeout');
  });
});
