import { Agent, request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { connect } from 'node:net';
import { Registry } from 'prom-client';
import { Probes } from '@dak/platform/probes';
import { timePasses } from '@dak/testing/waiting';
import { HttpServer } from './http-server';
import { streamBody } from './request-body';

describe('HttpServer', () => {
  it('lets a request in flight end and then closes its kept-alive connection at once', async () => {
    let answer: () => void = () => undefined;
    const server = new HttpServer({
      probes: new Probes({ metrics: new Registry(), isReady: () => Promise.resolve() }),
      handle: (_, response) => {
        answer = () => response.end('done');
        response.flushHeaders();
      },
    });
    const { port } = await server.listen(0, '127.0.0.1');
    const agent = new Agent({ keepAlive: true });
    const asked = request({ port, host: '127.0.0.1', agent, path: '/slow' }).end();
    const [reply] = (await once(asked, 'response')) as [NodeJS.ReadableStream];

    const begun = performance.now();
    const closed = server.close(10_000);
    answer();
    let text = '';
    for await (const chunk of reply) text += String(chunk);
    expect(text).toBe('done');
    await closed;
    expect(performance.now() - begun).toBeLessThan(2_000);
    agent.destroy();
  });

  it('answers the next request of a connection whose body was not read to its end', async () => {
    const server = new HttpServer({
      probes: new Probes({ metrics: new Registry(), isReady: () => Promise.resolve() }),
      handle: (incoming, response) => {
        const body = streamBody(incoming, response, 1e9, { idleMs: 5_000, totalMs: 5_000 });
        void body[Symbol.asyncIterator]()
          .next()
          .then(() => response.writeHead(503).end());
      },
    });
    const { port } = await server.listen(0, '127.0.0.1');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const begun = performance.now();
    for (const size of [400_000, 4_000_000, 400_000]) {
      const asked = request({ port, host: '127.0.0.1', agent, method: 'POST' });
      const [reply] = (await once(asked.end(Buffer.alloc(size)), 'response')) as [IncomingMessage];
      expect(reply.statusCode).toBe(503);
      await once(reply.resume(), 'end');
    }
    expect(performance.now() - begun).toBeLessThan(2_000);
    agent.destroy();
    await server.close();
  });

  it('leaves a connection alone whose body came to its end after the reply', async () => {
    const server = new HttpServer({
      probes: new Probes({ metrics: new Registry(), isReady: () => Promise.resolve() }),
      handle: (_, response) => void response.end('done'),
      restOfBodyMs: 200,
    });
    const { port } = await server.listen(0, '127.0.0.1');
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    const closed = jest.fn();
    socket.once('close', closed);
    socket.write('POST / HTTP/1.1\r\nHost: dak.example\r\nContent-Length: 5\r\n\r\n');
    expect((await once(socket, 'data'))[0]).toContain('done');
    socket.write('hello');
    await timePasses(400);
    expect(closed).not.toHaveBeenCalled();
    socket.write('GET / HTTP/1.1\r\nHost: dak.example\r\n\r\n');
    expect((await once(socket, 'data'))[0]).toContain('done');
    socket.destroy();
    await server.close();
  });

  it('keeps a connection for longer than it promises, for clients that count late', async () => {
    const server = new HttpServer({
      probes: new Probes({ metrics: new Registry(), isReady: () => Promise.resolve() }),
      handle: (_, response) => void response.end('done'),
      keepAliveMs: 1_000,
    });
    const { port } = await server.listen(0, '127.0.0.1');
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    const ask = async (): Promise<string> => {
      socket.write('GET / HTTP/1.1\r\nHost: dak.example\r\n\r\n');
      const [reply] = (await Promise.race([
        once(socket, 'data'),
        once(socket, 'close').then(() => ['closed']),
      ])) as [string];
      return reply;
    };
    expect(await ask()).toContain('Keep-Alive: timeout=1\r\n');
    await timePasses(3_000);
    expect(await ask()).toContain('done');
    socket.destroy();
    await server.close();
  });
});
