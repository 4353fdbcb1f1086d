import { Worker } from 'node:worker_threads';

it('passes', async () => {
  const worker = new Worker('setInterval(() => undefined, 1_000)', { eval: true });
  await new Promise((resolve) => worker.once('online', resolve));
});
