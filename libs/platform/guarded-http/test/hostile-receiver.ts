import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { CERTIFICATES } from './certificates';

/** A receiver on 127.0.0.1 that behaves as `behavior` says, and what has reached it. */
export interface HostileReceiver {
  readonly url: string;
  readonly port: number;
  /** Requests whose header section has arrived. */
  readonly requests: { method: string; headers: NodeJS.Dict<string | string[]>; body: Buffer }[];
  /** Connections accepted so far, and those open now. */
  readonly connections: { accepted: number; open: number };
  /** Bytes of replies handed to the sockets. */
  bytesSent(): number;
  close(): Promise<void>;
}

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const MB = 1024 * 1024;
const GB = 1024 * MB;
const bomb = gzipSync(Buffer.alloc(64 * MB));

function flood(response: ServerResponse, total: number): void {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  let left = total;
  const write = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= chunk.length;
      if (!response.write(chunk)) {
        response.once('drain', write);
        return;
      }
    }
    response.end();
  };
  write();
}

function drip(write: () => void, everyMs: number, until: () => boolean): void {
  const timer = setInterval(() => {
    if (until()) clearInterval(timer);
    else write();
  }, everyMs);
}

/** What receivers may do that speak HTTP. */
export const ANSWERS = {
  ok: (response) => response.writeHead(204).end(),
  echo: (response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('thank you'),
  gone: (response) => response.writeHead(410).end('go away'),
  broken: (response) => response.writeHead(500).end('oops'),
  redirectToMetadata: (response) =>
    response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
  overloadedForAges: (response) =>
    response.writeHead(429, { 'retry-after': '99999999999' }).end('later'),
  drippingBody: (response) => {
    response.writeHead(200);
    drip(
      () => response.write('x'),
      20,
      () => response.destroyed,
    );
  },
  drippingFailure: (response) => {
    response.writeHead(503, { 'retry-after': '120' });
    drip(
      () => response.write('x'),
      20,
      () => response.destroyed,
    );
  },
  gigabyte: (response) => {
    response.writeHead(200, { 'content-length': GB });
    flood(response, GB);
  },
  gzipBomb: (response) => {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': bomb.length });
    response.end(bomb);
  },
  hugeHeader: (response) => {
    response.writeHead(200, { 'x-filler': 'y'.repeat(64 * 1024) }).end();
  },
  manyHeaders: (response) => {
    for (let index = 0; index < 1500; index += 1)
      response.setHeader(`x-filler-${index}`, 'y'.repeat(20));
    response.writeHead(200).end();
  },
  bodyCutShort: (response) => {
    response.writeHead(200, { 'content-length': 1000 });
    response.write('half', () => response.socket?.destroy());
  },
  resetAfterRequest: (response) => response.socket?.resetAndDestroy(),
  closeAfterRequest: (response) => response.socket?.destroy(),
  silent: () => undefined,
  lateNoContent: (response) => {
    setTimeout(() => response.writeHead(204).end(), 1_500);
  },
} as const satisfies Record<string, Answer>;

/** What receivers may do that do not speak HTTP; called with every connection, and its data flows. */
export const RAW_ANSWERS = {
  /** One octet of a header section at a time. */
  drippingHeaders: (socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\nx-slow: ');
    drip(
      () => socket.write('z'),
      20,
      () => socket.destroyed,
    );
  },
  /** RFC 9110 §15.2 allows any number of these before the answer. */
  endlessInformational: (socket: Socket) => {
    drip(
      () => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'),
      5,
      () => socket.destroyed,
    );
  },
  garbage: (socket: Socket) => {
    socket.end('220 mail.example ESMTP\r\n');
  },
  /** Two answers to one request: the second must not be taken for that of the next one. */
  answersTwice: (socket: Socket) => {
    socket.on('data', () => {
      const empty = 'HTTP/1.1 204 No Content\r\n\r\n';
      socket.write(empty + empty.replace('204 No Content', '410 Gone'));
    });
  },
  upgrade: (socket: Socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n');
  },
} as const;

/** A receiver that speaks HTTP, over TLS when a certificate is named. */
export function startReceiver(
  behavior: keyof typeof ANSWERS | Answer,
  options: { certificate?: keyof typeof CERTIFICATES; port?: number } = {},
): Promise<HostileReceiver> {
  const answer = typeof behavior === 'function' ? behavior : ANSWERS[behavior];
  const requests: HostileReceiver['requests'] = [];
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    request.on('end', () => {
      const { method = '', headers } = request;
      requests.push({ method, headers, body: Buffer.concat(chunks) });
      answer(response, request);
    });
  };
  const server =
    options.certificate === undefined
      ? createHttpServer(onRequest)
      : createHttpsServer(CERTIFICATES[options.certificate], onRequest);
  const scheme = options.certificate === undefined ? 'http' : 'https';
  return listening(server, scheme, requests, options.port ?? 0);
}

/** A receiver that works on the bare connection. */
export function startRawReceiver(
  behavior: keyof typeof RAW_ANSWERS | ((socket: Socket) => void),
): Promise<HostileReceiver> {
  const answer = typeof behavior === 'function' ? behavior : RAW_ANSWERS[behavior];
  const server = createServer((socket) => {
    socket.resume().on('error', () => undefined);
    answer(socket);
  });
  return listening(server, 'http', [], 0);
}

/** Takes the TCP connection and never says a word: for TLS clients, a handshake that never ends. */
export function startMuteReceiver(): Promise<HostileReceiver> {
  return startRawReceiver(() => undefined);
}

async function listening(
  server: Server,
  scheme: 'http' | 'https',
  requests: HostileReceiver['requests'],
  port: number,
): Promise<HostileReceiver> {
  const sockets = new Set<Socket>();
  const connections = { accepted: 0, open: 0 };
  let closedBytes = 0;
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    connections.accepted += 1;
    connections.open += 1;
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      connections.open -= 1;
      closedBytes += socket.bytesWritten;
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `${scheme}://127.0.0.1:${bound}/hook`,
    port: bound,
    requests,
    connections,
    bytesSent: () => [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, closedBytes),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
