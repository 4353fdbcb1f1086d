import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { DomainError, type ReplyCode } from '@dak/kernel';
import type { Probes } from '@dak/platform/probes';
import type { PemPair } from '@dak/platform/tls-files';
import type { RequestHandler } from './request-handler';
import { discard, expectContinue } from './request-body';

export interface HttpServerOptions {
  probes: Probes;
  handle: RequestHandler;
  /** Speaks HTTPS with it instead of HTTP. */
  tls?: PemPair | undefined;
  /** How long a connection without a request is promised to stay; milliseconds. @default 65000 */
  keepAliveMs?: number;
  /** Time to read the rest of a body after its reply; milliseconds. @default 10000 */
  restOfBodyMs?: number;
}

/** Time for headers to arrive: a client that trickles them holds a socket, not a worker. */
const HEADERS_TIMEOUT_MS = 20_000;
/** How often Node checks for late headers. */
const HEADERS_CHECK_MS = 5_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Time to drain an unwanted body, so that the client sees its reply. */
const REST_OF_BODY_MS = 10_000;
const KEEP_ALIVE_MS = 65_000;
/** It stays so much longer: a busy client counts late, and a request that meets the end of its connection is lost. */
const KEEP_ALIVE_MARGIN_MS = 10_000;
const IDLE_SWEEP_MS = 50;

/** The listening socket and Express, with probes before everything that can be slow or refused. */
export class HttpServer {
  private readonly server: Server | TlsServer;

  constructor(private readonly options: HttpServerOptions) {
    const app = express();
    app.disable('x-powered-by');
    app.disable('etag');
    app.use((request, response) => this.dispatch(request, response));
    const settings = {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: HEADERS_CHECK_MS,
      // An import takes hours, so every route has its own limit, see streamBody.
      requestTimeout: 0,
      keepAliveTimeout: options.keepAliveMs ?? KEEP_ALIVE_MS,
      keepAliveTimeoutBuffer: KEEP_ALIVE_MARGIN_MS,
      noDelay: true,
    };
    this.server =
      options.tls === undefined
        ? createServer(settings, app)
        : createTlsServer(
            {
              ...settings,
              ...options.tls,
              minVersion: 'TLSv1.2',
              handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
            },
            app,
          );
    this.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      expectContinue(request);
      app(request as express.Request, response as express.Response);
    });
    this.server.on('clientError', answerClientError);
  }

  /** @throws DomainError conflict when the port is taken */
  listen(port: number, host: string): Promise<{ port: number }> {
    return new Promise((resolve, reject) => {
      const onError = (error: NodeJS.ErrnoException): void =>
        reject(
          error.code === 'EADDRINUSE'
            ? new DomainError(
                'conflict',
                'port_in_use',
                `The HTTP port ${port} is in use: set DAK_HTTP_PORT to another one, or 0 for any free port.`,
              )
            : error,
        );
      this.server.once('error', onError);
      this.server.listen(port, host, () => {
        this.server.off('error', onError);
        resolve({ port: (this.server.address() as AddressInfo).port });
      });
    });
  }

  /** New connections get this certificate. */
  setCertificate(pair: PemPair): void {
    if ('setSecureContext' in this.server) {
      this.server.setSecureContext({ ...pair, minVersion: 'TLSv1.2' });
    }
  }

  connections(): Promise<number> {
    return new Promise((resolve, reject) =>
      this.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  }

  /** Not ready at once, no new connections; requests in flight get `graceMs` to end. */
  async close(graceMs = 10_000): Promise<void> {
    this.options.probes.stop();
    if (!this.server.listening) return;
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    // A connection that was busy becomes idle only with its reply, and Node then keeps it open.
    const sweep = setInterval(() => this.server.closeIdleConnections(), IDLE_SWEEP_MS);
    this.server.closeIdleConnections();
    const timer = setTimeout(() => this.server.closeAllConnections(), graceMs);
    await closed;
    clearInterval(sweep);
    clearTimeout(timer);
  }

  private dispatch(request: IncomingMessage, response: ServerResponse): void {
    const { handle, probes, restOfBodyMs = REST_OF_BODY_MS } = this.options;
    if (mayHaveBody(request)) {
      response.once('finish', () => endWithoutBody(request, restOfBodyMs));
    }
    if (!probes.answerHealth(request, response)) handle(request, response);
  }
}

function mayHaveBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/**
 * The unread rest of a body would block the next request on its connection. A client that goes
 * on sending after its reply, or stops in the middle, must not hold the socket.
 */
function endWithoutBody(request: IncomingMessage, withinMs: number): void {
  if (request.readableEnded) return;
  discard(request);
  if (request.complete) return;
  // Once the body is whole, the connection belongs to the next requests.
  const timer = setTimeout(() => {
    if (!request.complete) request.socket.destroy();
  }, withinMs);
  for (const event of ['end', 'close']) request.once(event, () => clearTimeout(timer));
}

/** Requests that the HTTP parser refuses never reach a route; they still get the standard error form. */
function answerClientError(
  error: NodeJS.ErrnoException,
  socket: { writable: boolean; end(text: string): void; destroy(): void },
): void {
  if (!socket.writable || error.code === 'ECONNRESET') return socket.destroy();
  const [status, code, sentence]: [string, ReplyCode, string] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [
          '431 Request Header Fields Too Large',
          'headers_too_large',
          'The headers are larger than 16 KB: send fewer or shorter ones.',
        ]
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [
            '408 Request Timeout',
            'request_timeout',
            'The request did not arrive in time: send it again.',
          ]
        : ['400 Bad Request', 'malformed_http', 'This is not a well-formed HTTP request.'];
  const body = JSON.stringify({ error: sentence });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nX-Error-Code: ${code}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
