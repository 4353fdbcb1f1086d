import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort } from 'node:worker_threads';

/**
 * A receiver in a thread of its own: answers 200 to everything, after `?wait=` milliseconds, and keeps
 * when each webhook-id came first. Messages: `reset` clears it, `report` sends it.
 */
const arrivals = new Map<string, number>();
let count = 0;

const server = createServer((request, response) => {
  const at = Date.now();
  request.resume();
  request.on('end', () => {
    count += 1;
    const id = `${request.headers['webhook-id'] as string} ${request.url ?? ''}`;
    if (!arrivals.has(id)) arrivals.set(id, at);
    const wait = Number(new URL(request.url ?? '/', 'http://sink').searchParams.get('wait') ?? 0);
    if (wait > 0) setTimeout(() => response.end('ok'), wait);
    else response.end('ok');
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  parentPort?.postMessage({ port: (server.address() as AddressInfo).port });
});
parentPort?.on('message', (message: 'reset' | 'count' | 'report') => {
  if (message === 'reset') {
    arrivals.clear();
    count = 0;
  }
  parentPort?.postMessage({
    count,
    arrivals: message === 'report' ? [...arrivals] : [],
  });
});
