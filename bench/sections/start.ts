import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT, waitFor, type BenchRun, type StartedProcess } from '../bench-run';
import { BENCH_LIMITS, plainEnvironment, readBootstrap } from '../dak-process';
import type { Effort } from '../effort';
import { measureHttp, requireSuccess } from '../http-load';
import { judged, noted, type Measurement } from '../measurement';
import { treeMemory, type TreeMemory } from '@dak/testing/process-memory';
import { runProgram } from '../programs';

const SECTION = 'start';
const BAR_SECONDS = 5;
const BAR_MB = 400;
const LOAD_MESSAGES = 5_000;
const LIST_SECONDS = 10;

interface Started {
  process: StartedProcess;
  seconds: number;
  bootstrap: Awaited<ReturnType<typeof readBootstrap>>;
}

/** `npm start` on an installed tree with the embedded PostgreSQL: time to the first answer, memory of all its processes. */
export async function measureStart(run: BenchRun, effort: Effort): Promise<Measurement[]> {
  const data = run.newFolder('start-data');
  const first = await start(run, data, 'first-start');
  await idle(10);
  const atRest = treeMemory(first.process.child.pid!);
  const { base_url, api_key, smtp, mailboxes } = first.bootstrap;
  const messages = Math.round(LOAD_MESSAGES * effort.share);
  await runProgram(run, 'apps/mail/bench/smtp-accept.bench.ts', [
    ...['load', String(smtp.port), '10', String(messages), '4096', mailboxes[0]!.address],
  ]);
  const list = {
    url: `${base_url}/conversations`,
    headers: { authorization: `Bearer ${api_key}` },
    connections: 16,
    seconds: LIST_SECONDS * effort.share,
  };
  requireSuccess('start', await measureHttp(list));
  const loaded = treeMemory(first.process.child.pid!);
  await first.process.stop();
  const second = await start(run, data, 'second-start');
  await second.process.stop();

  const time = (what: string, seconds: number) =>
    judged({
      ...{ section: SECTION, what, measured: `${seconds.toFixed(2)} s` },
      ratio: seconds / BAR_SECONDS,
      comparison: 'at most',
      bar: 1,
      barText: `< ${BAR_SECONDS} s`,
    });
  const sums = ({ processes, rssMb }: TreeMemory) =>
    `${processes} processes; sum of RSS, shared pages once per process: ${Math.round(rssMb)} MB`;
  return [
    time('npm start to the first answer, first start (makes the database)', first.seconds),
    time('npm start to the first answer, second start', second.seconds),
    judged({
      section: SECTION,
      what: 'memory of the process tree 10 s after the start (PSS: shared pages once)',
      label: 'memory after npm start',
      measured: `${Math.round(atRest.pssMb)} MB`,
      peer: sums(atRest),
      ratio: atRest.pssMb / BAR_MB,
      comparison: 'at most',
      bar: 1,
      barText: `< ${BAR_MB} MB`,
    }),
    noted(
      SECTION,
      `the same after ${messages} messages in and ${LIST_SECONDS * effort.share} s of lists`,
      `${Math.round(loaded.pssMb)} MB`,
      sums(loaded),
    ),
    noted(SECTION, 'the tree', 'npm, its shell, Dak, and all processes of the embedded PostgreSQL'),
  ];
}

async function start(run: BenchRun, data: string, name: string): Promise<Started> {
  // The file of an earlier start names ports that nobody answers on any more.
  rmSync(join(data, 'bootstrap.json'), { force: true });
  const began = performance.now();
  const process = run.start(name, 'npm', ['start', '--silent'], {
    cwd: CHECKOUT,
    env: {
      ...plainEnvironment(),
      ...BENCH_LIMITS,
      DAK_DATA_DIR: data,
      DAK_HTTP_PORT: '0',
      DAK_SMTP_PORT: '0',
      DAK_LMTP_PORT: '0',
    },
  });
  const bootstrap = await waitFor('npm start', 120, async () => {
    const read = await readBootstrap(process, data);
    const answer = await fetch(`${read.base_url}/`, {
      headers: { authorization: `Bearer ${read.api_key}` },
    }).catch(() => null);
    return answer?.ok === true ? read : null;
  });
  return { process, seconds: (performance.now() - began) / 1000, bootstrap };
}

async function idle(seconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}
