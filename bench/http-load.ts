import { connect } from 'node:net';
import { percentile } from './measurement';

export interface HttpLoad {
  /** Of the whole request, without the path of `next`. */
  readonly url: string;
  readonly connections: number;
  /** Ends after so many seconds, or after `requests`, whatever is first. */
  readonly seconds?: number;
  readonly requests?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A body per request makes it a POST. */
  readonly body?: (index: number) => {
    content: string;
    headers?: Readonly<Record<string, string>>;
  };
}

export interface HttpLoadResult {
  readonly requestsPerSecond: number;
  readonly requests: number;
  /** Milliseconds from the request written to the last byte of its answer. */
  readonly p50: number;
  readonly p99: number;
  /** Answers by status that is not 2xx. */
  readonly failures: Readonly<Record<string, number>>;
  /** Octets of the last answer's body. */
  readonly bodyBytes: number;
}

const HEADER_END = Buffer.from('\r\n\r\n');

/**
 * Keep-alive HTTP/1.1 connections that each send the next request when the answer is complete. A
 * client of few instructions, so that on two cores it is the server that is measured. Latencies have
 * microseconds, which a histogram of milliseconds would round away.
 */
export async function measureHttp(load: HttpLoad): Promise<HttpLoadResult> {
  const target = new URL(load.url);
  const latencies: number[] = [];
  const failures: Record<string, number> = {};
  const started = performance.now();
  const deadline = started + (load.seconds ?? 3600) * 1000;
  let left = load.requests ?? Infinity;
  let sent = 0;
  let bodyBytes = 0;
  const request = requestWriter(load, target);

  const session = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: target.hostname, port: Number(target.port) });
      socket.setNoDelay(true);
      let sentAt = 0;
      let received: Buffer[] = [];
      let receivedBytes = 0;
      let expectedBytes = -1;
      let status = '';
      const next = (): void => {
        if (left <= 0 || performance.now() > deadline) {
          socket.end();
          resolve();
          return;
        }
        left -= 1;
        received = [];
        receivedBytes = 0;
        expectedBytes = -1;
        sentAt = performance.now();
        socket.write(request(sent));
        sent += 1;
      };
      socket.on('connect', next);
      socket.on('data', (chunk: Buffer) => {
        received.push(chunk);
        receivedBytes += chunk.byteLength;
        if (expectedBytes < 0) {
          const head = received.length === 1 ? chunk : Buffer.concat(received);
          const end = head.indexOf(HEADER_END);
          if (end < 0) return;
          const text = head.toString('latin1', 0, end);
          const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
          status = text.slice(9, 12);
          if (length === undefined) return reject(new Error(`An answer without length: ${text}`));
          bodyBytes = Number(length);
          expectedBytes = end + HEADER_END.byteLength + bodyBytes;
        }
        if (receivedBytes < expectedBytes) return;
        latencies.push(performance.now() - sentAt);
        if (!status.startsWith('2')) failures[status] = (failures[status] ?? 0) + 1;
        next();
      });
      socket.on('error', reject);
      socket.on('close', () => resolve());
    });

  await Promise.all(Array.from({ length: load.connections }, session));
  const seconds = (performance.now() - started) / 1000;
  latencies.sort((a, b) => a - b);
  return {
    requestsPerSecond: latencies.length / seconds,
    requests: latencies.length,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    failures,
    bodyBytes,
  };
}

function requestWriter(load: HttpLoad, target: URL): (index: number) => string {
  const headers = Object.entries({ host: target.host, ...load.headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  const path = `${target.pathname}${target.search}`;
  const { body } = load;
  if (body === undefined) {
    const text = `GET ${path} HTTP/1.1\r\n${headers}\r\n`;
    return () => text;
  }
  return (index) => {
    const { content, headers: own = {} } = body(index);
    const extra = Object.entries(own)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    const length = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(content)}`;
    return `POST ${path} HTTP/1.1\r\n${headers}${extra}${length}\r\n\r\n${content}`;
  };
}

/** @throws Error when any answer was not 2xx */
export function requireSuccess(what: string, result: HttpLoadResult): HttpLoadResult {
  if (Object.keys(result.failures).length > 0 || result.requests === 0) {
    throw new Error(`${what}: answers that are not 2xx: ${JSON.stringify(result.failures)}`);
  }
  return result;
}
