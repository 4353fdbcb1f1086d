import type { BenchRun } from '../bench-run';
import type { Effort } from '../effort';
import { judged, milliseconds, noted, perSecond, type Measurement } from '../measurement';
import { startCluster } from '../postgres-cluster';
import { runProgram } from '../programs';

const SECTION = 'webhooks';
const DRIVER = 'apps/webhook/bench/webhooks.bench.ts';
const COUNT = 10_000;
const DELIVERIES_BAR = 3_000;
const OWN_QUEUE_BAR = 1.5;
const ONE_BY_ONE_BAR = 5;
const P50_BAR_MS = 10;
const P99_BAR_MS = 50;
const NEIGHBOR_BAR = 2;

interface Latency {
  p50: number;
  p99: number;
}

interface Driven {
  count: number;
  events: number;
  deliveries: number;
  graphile: number;
  bossOne: number;
  bossBatch: number;
  latency: { fromLog: Latency; fromCommit: Latency };
  neighbor: { alone: Latency; beside: Latency };
}

/**
 * Deliveries with a row per attempt, in turns with the same job on two queues; then how soon an event is
 * sent, and what one receiver that hangs costs the others. Service, receiver and PostgreSQL share the machine.
 */
export async function measureWebhooks(run: BenchRun, effort: Effort): Promise<Measurement[]> {
  const cluster = await startCluster(run, SECTION);
  const count = Math.round(COUNT * effort.share);
  const driven = await runProgram<Driven>(run, DRIVER, [
    ...[cluster.adminUrl, String(count), String(effort.rounds)],
  ]);
  await cluster.stop();
  const { latency, neighbor } = driven;
  const beside = (name: string, rate: number, bar: number): Measurement =>
    judged({
      section: SECTION,
      what: `deliveries with attempt rows against ${name}`,
      label: `webhook deliveries / ${name}`,
      measured: perSecond(driven.deliveries),
      peer: `${name}: ${perSecond(rate)}`,
      ratio: driven.deliveries / rate,
      comparison: 'at least',
      bar,
    });
  const withinMs = (what: string, time: number, bar: number): Measurement =>
    judged({
      ...{ section: SECTION, what, measured: milliseconds(time), ratio: time / bar },
      ...{ comparison: 'at most', bar: 1, barText: `≤ ${bar} ms` },
    });
  return [
    judged({
      section: SECTION,
      what: `deliveries of ${count} waiting messages, each with its attempt row`,
      label: 'webhook deliveries',
      measured: perSecond(driven.deliveries),
      ratio: driven.deliveries / DELIVERIES_BAR,
      comparison: 'at least',
      bar: 1,
      barText: `≥ ${DELIVERIES_BAR}/s`,
    }),
    noted(SECTION, 'events from the log: fan-out, POST, attempt row', perSecond(driven.events)),
    beside('graphile-worker, a job each', driven.graphile, OWN_QUEUE_BAR),
    beside('pg-boss, a job each', driven.bossOne, ONE_BY_ONE_BAR),
    noted(SECTION, 'the same on pg-boss in batches of 100', perSecond(driven.bossBatch)),
    withinMs('event to first attempt at 500 events/s, p50', latency.fromLog.p50, P50_BAR_MS),
    withinMs('event to first attempt at 500 events/s, p99', latency.fromLog.p99, P99_BAR_MS),
    noted(
      SECTION,
      'commit to POST at 500 events/s, through outbox, relay and log',
      `p50 ${milliseconds(latency.fromCommit.p50)}, p99 ${milliseconds(latency.fromCommit.p99)}`,
    ),
    judged({
      section: SECTION,
      what: 'p99 of 49 endpoints beside one that hangs',
      label: 'p99 beside a hanging receiver / without it',
      measured: milliseconds(neighbor.beside.p99),
      peer: `without it: ${milliseconds(neighbor.alone.p99)}`,
      ratio: neighbor.beside.p99 / neighbor.alone.p99,
      comparison: 'at most',
      bar: NEIGHBOR_BAR,
    }),
  ];
}
