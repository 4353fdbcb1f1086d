import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

export interface Receiver {
  url: string;
  reset(): Promise<void>;
  /** POSTs since the last reset. */
  count(): Promise<number>;
  /** `webhook-id path` and when it came first, milliseconds since the epoch. */
  arrivals(): Promise<Map<string, number>>;
  stop(): Promise<void>;
}

interface Answer {
  port?: number;
  count: number;
  arrivals: [string, number][];
}

/** Starts `receiver.ts`; the loader of this process is inherited. */
export async function startReceiver(): Promise<Receiver> {
  const worker = new Worker(join(__dirname, 'receiver.ts'), {
    execArgv: ['--import', 'tsx'],
  });
  const next = async (): Promise<Answer> => {
    const [answer] = (await once(worker, 'message')) as [Answer];
    return answer;
  };
  const ask = (message: string): Promise<Answer> => {
    const answer = next();
    worker.postMessage(message);
    return answer;
  };
  const { port } = await next();
  return {
    url: `http://127.0.0.1:${port}`,
    reset: async () => void (await ask('reset')),
    count: async () => (await ask('count')).count,
    arrivals: async () => new Map((await ask('report')).arrivals),
    stop: async () => void (await worker.terminate()),
  };
}
