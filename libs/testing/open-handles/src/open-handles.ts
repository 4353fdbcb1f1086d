import { ChildProcess } from 'node:child_process';
import { Socket as UdpSocket } from 'node:dgram';
import { Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

/** Others, such as timers and connections, end on their own eventually. */
const LASTING = [ChildProcess, Server, UdpSocket];

/** Watches what stays open until it is closed: servers, children, worker threads. */
export class OpenHandles {
  readonly #before = new Set(lasting());
  readonly #workers = new Set<Worker>();
  readonly #onWorker = (worker: Worker) => {
    this.#workers.add(worker);
    worker.once('exit', () => this.#workers.delete(worker));
  };

  constructor() {
    // A worker thread is not among the handles of the process.
    process.on('worker', this.#onWorker);
  }

  /** What was opened since the start and is not closed within `graceMs`, each named. */
  async leftOpen(graceMs: number): Promise<string[]> {
    const deadline = performance.now() + graceMs;
    for (;;) {
      const left = [...lasting().filter((one) => !this.#before.has(one)), ...this.#workers];
      if (left.length === 0 || performance.now() > deadline) return left.map(nameOf);
      await delay(20);
    }
  }

  close(): void {
    process.off('worker', this.#onWorker);
  }
}

/** Handles that keep the process alive. Only this undocumented call shows which they are, not only their kinds. */
function lasting(): object[] {
  const { _getActiveHandles: all } = process as unknown as { _getActiveHandles(): object[] };
  return all().filter((handle) => LASTING.some((kind) => handle instanceof kind));
}

function nameOf(handle: object): string {
  if (handle instanceof ChildProcess) return `the process ${handle.spawnargs.join(' ')}`;
  if (handle instanceof Worker) return 'a worker thread';
  if (handle instanceof Server || handle instanceof UdpSocket)
    return `a server at ${JSON.stringify(handle.address())}`;
  return handle.constructor.name;
}
