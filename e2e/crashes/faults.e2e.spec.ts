import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { embeddedBinaries, systemBinaries } from '@dak/platform/embedded-postgres';
import { SERVICES } from '@dak/platform/config';
import { freePort } from '@dak/platform/lifecycle';
import { startCluster } from '@dak/testing/database';
import { startNativeKafka } from '@dak/testing/kafka';
import { openNetworkGate, type NetworkGate } from '@dak/testing/network-gate';
import { startSmtpSink, type SmtpSink } from '@dak/testing/smtp-sink';
import { eventually, timePasses } from '@dak/testing/waiting';
import { describeDistributed } from '../stack/distributed-stack';
import { FaultLoad } from './fault-load';
import {
  removeDataDir,
  startDak,
  temporaryDataDir,
  twoOfEach,
  type DakRun,
  type RunningDak,
} from '../stack/running-dak';

/** How long what is away is away; `DAK_FAULT_SECONDS` for longer. */
const AWAY_MS = Number(process.env['DAK_FAULT_SECONDS'] ?? 12) * 1_000;
const BEFORE_MS = 1_000;
const AFTER_MS = 1_000;

interface Surroundings {
  dak: RunningDak;
  postgres: NetworkGate;
  redis?: NetworkGate;
  kafka?: { kill(): void; restart(): Promise<void> };
  /** Of the clocks of all processes of Dak, in milliseconds. */
  stepClock: (ms: number) => Promise<void>;
}

interface Fault {
  name: string;
  run: (surroundings: Surroundings) => Promise<void>;
}

const away = async (gate: NetworkGate): Promise<void> => {
  await gate.cut();
  await timePasses(AWAY_MS);
  await gate.open();
};
const frozen = async (gate: NetworkGate): Promise<void> => {
  gate.freeze();
  await timePasses(AWAY_MS);
  await gate.open();
};

const POSTGRES_FAULTS: Fault[] = [
  { name: 'PostgreSQL is away', run: ({ postgres }) => away(postgres) },
  { name: 'PostgreSQL hangs', run: ({ postgres }) => frozen(postgres) },
];
const CLOCK_FAULTS: Fault[] = [
  { name: 'the clock steps an hour ahead', run: ({ stepClock }) => stepClock(3_600_000) },
  { name: 'the clock steps back', run: ({ stepClock }) => stepClock(0) },
];
const CLUSTER_FAULTS: Fault[] = [
  { name: 'Redis is away', run: ({ redis }) => away(redis!) },
  { name: 'Redis hangs', run: ({ redis }) => frozen(redis!) },
  {
    name: 'Kafka is away',
    run: async ({ kafka }) => {
      kafka!.kill();
      await timePasses(AWAY_MS);
      await kafka!.restart();
    },
  },
  ...SERVICES.map((service) => ({
    name: `a process of ${service} freezes`,
    run: async ({ dak }: Surroundings) => {
      // The second one: clients know the address of the first.
      const { pid } = dak.processes().filter((one) => one.service === service)[1]!;
      process.kill(pid, 'SIGSTOP');
      await timePasses(AWAY_MS);
      process.kill(pid, 'SIGCONT');
    },
  })),
];

describe('under mail in and out, in one process,', () => {
  faultSuite([...POSTGRES_FAULTS, ...CLOCK_FAULTS], { app: 'standalone', args: [] }, async () => ({
    settings: {},
    surroundings: {},
  }));
});

describeDistributed('under mail in and out, distributed,', () => {
  faultSuite(
    [...POSTGRES_FAULTS, ...CLUSTER_FAULTS, ...CLOCK_FAULTS],
    twoOfEach(SERVICES),
    async (undo) => {
      const redis = await startRedis(undo);
      const folder = mkdtempSync(join(tmpdir(), 'dak-faults-kafka-'));
      const kafka = await startNativeKafka(folder);
      undo.push(async () => {
        await kafka.stop();
        rmSync(folder, { recursive: true, force: true });
      });
      return {
        settings: {
          DAK_REDIS_URL: `redis://127.0.0.1:${redis.port}`,
          DAK_KAFKA_BROKERS: kafka.brokers,
        },
        surroundings: { redis, kafka },
      };
    },
  );
});

type Undo = (() => unknown)[];

function faultSuite(
  faults: readonly Fault[],
  run: DakRun,
  prepare: (undo: Undo) => Promise<{
    settings: Record<string, string>;
    surroundings: Omit<Partial<Surroundings>, 'dak'>;
  }>,
): void {
  const undo: Undo = [];
  let sink: SmtpSink;
  let surroundings: Surroundings;

  beforeAll(async () => {
    sink = await startSmtpSink();
    undo.push(() => sink.stop());
    const dataDir = temporaryDataDir();
    undo.push(() => removeDataDir(dataDir));
    const { gate, url } = await clusterBehindGate(undo);
    const { settings, surroundings: others } = await prepare(undo);
    const clock = steppedClock(undo);
    const dak = await startDak(
      dataDir,
      {
        ...settings,
        ...clock.environment,
        DAK_DATABASE_URL: url,
        DAK_MAIL_TRANSPORT: `smtp://127.0.0.1:${sink.port}`,
        DAK_SMTP_CONNECTIONS_PER_CLIENT: '1000',
      },
      run,
    );
    undo.push(() => dak.stop());
    surroundings = { dak, postgres: gate, stepClock: clock.step, ...others };
  }, 120_000);
  afterAll(async () => {
    for (const step of undo.splice(0).reverse()) await step();
  }, 60_000);

  it.each(faults)(
    'when $name nothing is lost, nobody gets an error of ours, and all goes on by itself',
    async ({ name, run: strike }) => {
      const { dak } = surroundings;
      const pids = dak.processes().map(({ pid }) => pid);
      const load = new FaultLoad(dak, sink, name.replaceAll(' ', '-'));
      await timePasses(BEFORE_MS);
      await strike(surroundings);
      const took = await load.recovered();
      await timePasses(AFTER_MS);
      await load.stop();
      process.stderr.write(`${name}: works again after ${Math.round(took)} ms\n`);
      expect(load.promisedIn.length).toBeGreaterThan(10);
      expect(load.promisedOut.length).toBeGreaterThan(10);
      await load.nothingLost();
      // Processes see the step up to 50 ms apart, and what one signs for the other is not valid then.
      const isStep = name.startsWith('the clock');
      expect(load.unseemly().filter((text) => !(isStep && / 401 /.test(text)))).toEqual([]);
      expect(dak.processes().map(({ pid }) => pid)).toEqual(pids);
      expect(dak.process.exitCode).toBeNull();
    },
    180_000 + 2 * AWAY_MS,
  );

  it('is ready in the end', async () => {
    const { site_url } = surroundings.dak.bootstrap;
    await eventually('ready', async () => (await fetch(`${site_url}/readyz`)).status === 200);
  });
}

async function clusterBehindGate(undo: Undo): Promise<{ gate: NetworkGate; url: string }> {
  const binaries = systemBinaries() ?? embeddedBinaries();
  if (binaries === null) throw new Error('No PostgreSQL binaries: install postgresql.');
  const folder = mkdtempSync(join(tmpdir(), 'dak-faults-'));
  chmodSync(folder, 0o755);
  const { pid, details } = await startCluster(folder, binaries);
  undo.push(() => {
    process.kill(pid, 'SIGINT');
    rmSync(folder, { recursive: true, force: true });
  });
  const url = new URL(details['adminUrl']!);
  const gate = await openNetworkGate({ host: url.hostname, port: Number(url.port) });
  undo.push(() => gate.close());
  url.port = String(gate.port);
  return { gate, url: url.href };
}

async function startRedis(undo: Undo): Promise<NetworkGate> {
  const port = await freePort();
  const child: ChildProcess = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    { stdio: 'ignore' },
  );
  undo.push(() => child.kill('SIGTERM'));
  const gate = await openNetworkGate({ host: '127.0.0.1', port });
  undo.push(() => gate.close());
  return gate;
}

/** A clock for all processes that a file sets: `Date` is that much ahead; timers are not, as when a machine's clock steps. */
function steppedClock(undo: Undo): {
  environment: Record<string, string>;
  step: (ms: number) => Promise<void>;
} {
  const folder = mkdtempSync(join(tmpdir(), 'dak-clock-'));
  undo.push(() => rmSync(folder, { recursive: true, force: true }));
  const offset = join(folder, 'offset');
  const preload = join(folder, 'clock.cjs');
  writeFileSync(offset, '0');
  writeFileSync(
    preload,
    `const { readFileSync } = require('node:fs');
     const Real = Date;
     let ahead = 0;
     setInterval(() => { try { ahead = Number(readFileSync(${JSON.stringify(offset)}, 'utf8')) || 0; } catch {} }, 50).unref();
     globalThis.Date = class Date extends Real {
       constructor(...given) { if (given.length === 0) super(Real.now() + ahead); else super(...given); }
       static now() { return Real.now() + ahead; }
     };`,
  );
  return {
    environment: { NODE_OPTIONS: `--require=${preload}` },
    step: async (ms) => {
      writeFileSync(offset, String(ms));
      await timePasses(AFTER_MS);
    },
  };
}
