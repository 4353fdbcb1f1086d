import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { timePasses } from '@dak/testing/waiting';

const LISTEN_AND_SLEEP = `
  const { workerData, parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    // Beyond the message loop, so that the message still leaves; then nothing is ever accepted.
    setTimeout(() => Atomics.wait(new Int32Array(workerData), 0, 0), 50);
  });`;

/**
 * A port whose queue of connections is full and never emptied: connecting to it neither succeeds nor is refused.
 */
export async function startNeverAccepting(): Promise<{ url: string; close(): Promise<void> }> {
  const wake = new SharedArrayBuffer(4);
  const worker = new Worker(LISTEN_AND_SLEEP, { eval: true, workerData: wake });
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  await timePasses(200);
  const queued: Socket[] = [];
  for (let index = 0; index < 8; index += 1) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    queued.push(socket);
  }
  await timePasses(100);
  return {
    url: `http://127.0.0.1:${port}/hook`,
    close: async () => {
      for (const socket of queued) socket.destroy();
      Atomics.store(new Int32Array(wake), 0, 1);
      Atomics.notify(new Int32Array(wake), 0);
      await worker.terminate();
    },
  };
}
