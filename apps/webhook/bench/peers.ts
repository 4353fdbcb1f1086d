import { Logger, run } from 'graphile-worker';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { Pool as HttpPool } from 'undici';
import { newSecret, parseSecret, signatureHeader } from '@dak/formats/standard-webhooks';
import { uuidv7 } from '@dak/kernel';
import type { BenchDatabase } from './bench-database';

/** One POST with a signature and one attempt row, as a job of another queue makes them. */
const ATTEMPT_TABLE = `
  create table attempt (
    delivery_id uuid not null, number smallint not null, at timestamptz not null, duration_ms integer not null,
    outcome text not null, status_code smallint, primary key (delivery_id, number))`;
const INSERT = `insert into attempt values ($1, 1, $2, $3, $4, $5)`;
const CONCURRENCY = 32;
const silent = new Logger(() => () => undefined);

interface Job {
  id: string;
  body: string;
}

function poster(receiverUrl: string, pool: pg.Pool) {
  const http = new HttpPool(receiverUrl, { connections: CONCURRENCY });
  const secrets = [parseSecret(newSecret())];
  return {
    async post({ id, body }: Job): Promise<void> {
      const at = new Date();
      const timestamp = Math.floor(at.getTime() / 1000);
      const { statusCode, body: answer } = await http.request({
        method: 'POST',
        path: '/',
        headers: {
          'content-type': 'application/json',
          'webhook-id': `evt_${id}`,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': signatureHeader({ id: `evt_${id}`, timestamp, body, secrets }),
        },
        body,
      });
      await answer.dump();
      const outcome = statusCode < 300 ? 'delivered' : 'retry';
      const values = [id, at, Date.now() - at.getTime(), outcome, statusCode];
      await pool.query({ name: 'attempt', text: INSERT, values });
    },
    close: () => http.close(),
  };
}

const jobsOf = (count: number, body: string): Job[] =>
  Array.from({ length: count }, () => ({ id: uuidv7(), body }));

/** Jobs per second until all are done, of jobs that are in the queue when the clock starts. */
export async function measureGraphileWorker(
  { url }: BenchDatabase,
  receiverUrl: string,
  count: number,
  body: string,
): Promise<number> {
  const pool = new pg.Pool({ connectionString: url, max: CONCURRENCY + 4 });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  await pool.query(ATTEMPT_TABLE);
  const sender = poster(receiverUrl, pool);
  let done = 0;
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const options = {
    pgPool: pool,
    concurrency: CONCURRENCY,
    noHandleSignals: true,
    logger: silent,
    pollInterval: 50,
  };
  // The first run makes the tables.
  const setup = await run({ ...options, taskList: { none: async () => undefined } });
  await setup.stop();
  const specs = jobsOf(count, body).map((payload) => ({ identifier: 'post', payload }));
  for (let next = 0; next < specs.length; next += 1_000) {
    await pool.query(
      `select graphile_worker.add_jobs(array(select json_populate_recordset(null::graphile_worker.job_spec, $1)))`,
      [JSON.stringify(specs.slice(next, next + 1_000))],
    );
  }
  await pool.query('analyze');
  const start = performance.now();
  const runner = await run({
    ...options,
    taskList: {
      post: async (payload) => {
        await sender.post(payload as Job);
        done += 1;
        if (done === count) finish();
      },
    },
  });
  await finished;
  const seconds = (performance.now() - start) / 1000;
  await runner.stop();
  await sender.close();
  await pool.end();
  return count / seconds;
}

/** As {@link measureGraphileWorker}; `batch` is how many jobs one fetch brings. */
export async function measurePgBoss(
  { url }: BenchDatabase,
  receiverUrl: string,
  count: number,
  body: string,
  batch: number,
): Promise<number> {
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  pool.on('error', () => undefined);
  await pool.query(ATTEMPT_TABLE);
  const sender = poster(receiverUrl, pool);
  const boss = new PgBoss({ connectionString: url, max: 10, supervise: false, schedule: false });
  boss.on('error', () => undefined);
  await boss.start();
  await boss.createQueue('post');
  const jobs = jobsOf(count, body);
  for (let next = 0; next < jobs.length; next += 1_000) {
    await boss.insert(
      'post',
      jobs.slice(next, next + 1_000).map((data) => ({ data })),
    );
  }
  await pool.query('analyze');
  const start = performance.now();
  const loops = batch === 1 ? CONCURRENCY : 2;
  await Promise.all(
    Array.from({ length: loops }, async () => {
      for (;;) {
        const fetched = await boss.fetch<Job>('post', { batchSize: batch });
        if (fetched.length === 0) return;
        await Promise.all(fetched.map(({ data }) => sender.post(data)));
        await boss.complete(
          'post',
          fetched.map(({ id }) => id),
        );
      }
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  await boss.stop({ graceful: false });
  await sender.close();
  await pool.end();
  return count / seconds;
}
