import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { deliver } from '@dak/testing/smtp-sink';
import { BenchRun, CHECKOUT } from './bench-run';
import { callApi, plainEnvironment, startDak, type Dak } from './dak-process';
import { InboundProgress } from './inbound-progress';
import { median, percentile } from './measurement';
import { runProgram } from './programs';

/**
 * What a backup of a Dak under a light load takes, and what its clients notice, in turns with the same load alone:
 * `node --import tsx bench/backup.bench.ts [MESSAGES [ROUNDS]]`, after `npm run build`. It stores that many
 * messages of 32 KB before.
 */
const [messages = '3000', rounds = '3'] = process.argv.slice(2);
const MESSAGE_BYTES = 32 * 1024;
const ALONE_MS = 10_000;
const LIST_EVERY_MS = 50;
const MAIL_EVERY_MS = 200;
const DRIVER = 'apps/mail/bench/smtp-accept.bench.ts';

interface Latencies {
  http: number[];
  smtp: number[];
}

/** Lists and mails at fixed times, whether or not those before were answered. */
async function underLoad(dak: Dak, goesOn: () => boolean): Promise<Latencies> {
  const found: Latencies = { http: [], smtp: [] };
  const running: Promise<void>[] = [];
  const timed = async (into: number[], work: Promise<unknown>): Promise<void> => {
    const begun = performance.now();
    if ((await work) === null) throw new Error('A mail was refused.');
    into.push(performance.now() - begun);
  };
  const [mailbox] = dak.mailboxes;
  const begun = performance.now();
  for (let turn = 0; goesOn(); turn += 1) {
    running.push(timed(found.http, callApi(dak, 'GET', '/conversations')));
    if ((turn * LIST_EVERY_MS) % MAIL_EVERY_MS === 0) {
      const subject = `beside-${Date.now()}-${turn}`;
      running.push(timed(found.smtp, deliver(dak.smtp.port, mailbox!.address, subject)));
    }
    await delay(Math.max(0, begun + (turn + 1) * LIST_EVERY_MS - performance.now()));
  }
  await Promise.all(running);
  return found;
}

async function takeBackup(
  { adminUrl, dataFolder }: Dak,
  folder: string,
): Promise<{ bytes: number; seconds: number }> {
  const child = promisify(execFile)(
    process.execPath,
    [join(CHECKOUT, 'dist/commands/backup.js'), folder],
    { env: { ...plainEnvironment(), DAK_DATA_DIR: dataFolder, DAK_DATABASE_URL: adminUrl } },
  );
  return JSON.parse((await child).stdout) as { bytes: number; seconds: number };
}

async function main(run: BenchRun): Promise<void> {
  const dak = await startDak(run, 'backup');
  const progress = await InboundProgress.open(dak.mailDatabaseUrl);
  run.say(`storing ${messages} messages`);
  await runProgram(run, DRIVER, [
    ...['load', String(dak.smtp.port), '10', messages, String(MESSAGE_BYTES)],
    dak.mailboxes[0]!.address,
  ]);
  await progress.untilDrained(300);
  await progress.settle();
  await progress.close();

  const alone = () => {
    const until = performance.now() + ALONE_MS;
    return underLoad(dak, () => performance.now() < until);
  };
  await alone();
  const table = { rate: [] as number[], alone: [] as Latencies[], beside: [] as Latencies[] };
  let megabytes = 0;
  for (let round = 1; round <= Number(rounds); round += 1) {
    table.alone.push(await alone());
    const folder = join(run.folder, 'backup');
    let isOver = false;
    const backup = takeBackup(dak, folder).finally(() => (isOver = true));
    const [latencies, told] = await Promise.all([underLoad(dak, () => !isOver), backup]);
    table.beside.push(latencies);
    megabytes = told.bytes / 1e6;
    table.rate.push(megabytes / told.seconds);
    rmSync(folder, { recursive: true });
    run.say(`round ${round}: ${told.seconds} s`);
  }
  await dak.stop();
  const quantile = (slices: readonly Latencies[], kind: keyof Latencies, share: number): string =>
    `${median(
      slices.map((one) =>
        percentile(
          one[kind].sort((a, b) => a - b),
          share,
        ),
      ),
    ).toFixed(1)} ms`;
  const line = (kind: keyof Latencies, share: number): string =>
    `${kind} p${share * 100}: alone ${quantile(table.alone, kind, share)}, beside a backup ${quantile(table.beside, kind, share)}`;
  const lines = (['http', 'smtp'] as const).flatMap((kind) => [line(kind, 0.5), line(kind, 0.99)]);
  const rates = table.rate.map((rate) => rate.toFixed(1)).join(', ');
  process.stdout.write(
    `${[`${megabytes.toFixed(0)} MB, ${median(table.rate).toFixed(1)} MB/s (${rates})`, ...lines].join('\n')}\n`,
  );
}

const run = new BenchRun();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void run.end().finally(() => process.exit(1)));
}
main(run)
  .catch((error: unknown) => {
    process.exitCode = 1;
    run.say(String((error as Error).stack));
  })
  .finally(() => run.end());
