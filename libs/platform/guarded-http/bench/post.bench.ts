import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { createGuardedHttp, parseAllowance } from '../src/index';

/**
 * POSTs per second of our CPU to a receiver in a separate process, beside a bare undici `Pool` that guards nothing:
 * interleaved rounds, medians. What the guard costs is the difference.
 */
const ROUNDS = 5;
const ROUND_MS = 1_500;
const CONCURRENCY = 32;
const BODY = Buffer.alloc(1_024, 'x');
const headers = { 'content-type': 'application/json' };

if (process.send !== undefined) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(204).end());
  });
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
} else {
  void measure();
}

async function measure(): Promise<void> {
  const receiver = fork(process.argv[1]!, { execArgv: process.execArgv });
  const port = await new Promise<number>((resolve) => receiver.once('message', resolve));
  const origin = `http://127.0.0.1:${port}`;
  const http = createGuardedHttp({ allow: parseAllowance('127.0.0.1') });
  const pool = new Pool(origin, { connections: CONCURRENCY });
  const guarded: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    guarded.push(
      await perSecond(() => http.post(`${origin}/hook`, { headers, body: BODY, timeoutMs: 5_000 })),
    );
    bare.push(
      await perSecond(async () => {
        const { body } = await pool.request({ method: 'POST', path: '/hook', headers, body: BODY });
        await body.dump();
      }),
    );
  }
  const [ours, theirs] = [median(guarded), median(bare)];
  console.log(
    `guarded ${Math.round(ours)} POSTs/s, bare undici ${Math.round(theirs)}, ratio ${(ours / theirs).toFixed(2)}`,
  );
  await http.close();
  await pool.close();
  receiver.kill();
}

async function perSecond(post: () => Promise<unknown>): Promise<number> {
  const endsAt = performance.now() + ROUND_MS;
  const before = process.cpuUsage();
  let count = 0;
  const sender = async (): Promise<void> => {
    for (; performance.now() < endsAt; count += 1) await post();
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, sender));
  const { user, system } = process.cpuUsage(before);
  return (count * 1_000_000) / (user + system);
}

function median(figures: number[]): number {
  return figures.sort((a, b) => a - b)[figures.length >> 1]!;
}
