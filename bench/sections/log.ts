import type { BenchRun } from '../bench-run';
import type { Effort } from '../effort';
import { judged, milliseconds, noted, perSecond, type Measurement } from '../measurement';
import { runProgram } from '../programs';

const SECTION = 'log';
const DRIVER = 'libs/platform/log/bench/log.bench.ts';
const EVENTS = 40_000;
const OUTBOX_BAR_PERCENT = 15;
const CATCH_UP_BAR = 10_000;

interface Percentiles {
  p50: number;
  p99: number;
}

interface DriverResult {
  relayPerSecond: number;
  catchUpPerSecond: number;
  relayLag: Percentiles;
  toHandler: Percentiles;
}

interface Driven {
  outbox: { withoutPerSecond: number; withPerSecond: number; percent: number };
  postgres: DriverResult;
  kafka: DriverResult | null;
}

/** What events cost a transaction, and how fast they reach consumers on either driver. */
export async function measureLog(run: BenchRun, effort: Effort): Promise<Measurement[]> {
  const events = Math.round(EVENTS * effort.share);
  // It starts its own durable PostgreSQL, and Kafka where Java and Maven are.
  const driven = await runProgram<Driven>(run, DRIVER, ['', String(events), String(effort.rounds)]);
  const { outbox, postgres, kafka } = driven;
  return [
    judged({
      section: SECTION,
      what: 'what the outbox adds to the transaction of a received mail, 8 callers',
      label: 'cost of the outbox in a transaction',
      measured: `${outbox.percent.toFixed(1)} %`,
      peer: `${perSecond(outbox.withPerSecond)} with, ${perSecond(outbox.withoutPerSecond)} without`,
      ratio: outbox.percent / OUTBOX_BAR_PERCENT,
      comparison: 'at most',
      bar: 1,
      barText: `≤ ${OUTBOX_BAR_PERCENT} %`,
    }),
    judged({
      section: SECTION,
      what: 'catch-up of one consumer, log in PostgreSQL',
      measured: perSecond(postgres.catchUpPerSecond),
      ratio: postgres.catchUpPerSecond / CATCH_UP_BAR,
      comparison: 'at least',
      bar: 1,
      barText: `≥ ${CATCH_UP_BAR}/s`,
    }),
    ...notes('PostgreSQL', postgres),
    ...(kafka === null
      ? []
      : [
          noted(
            SECTION,
            'catch-up of one consumer, log in Kafka',
            perSecond(kafka.catchUpPerSecond),
          ),
          ...notes('Kafka', kafka),
        ]),
  ];
}

function notes(driver: string, result: DriverResult): Measurement[] {
  const { relayLag, toHandler } = result;
  return [
    noted(SECTION, `relay from outbox to the log in ${driver}`, perSecond(result.relayPerSecond)),
    noted(
      SECTION,
      `commit to log, to handler at 200 events/s, log in ${driver}`,
      `p50 ${milliseconds(relayLag.p50)}, p99 ${milliseconds(relayLag.p99)}; ` +
        `p50 ${milliseconds(toHandler.p50)}, p99 ${milliseconds(toHandler.p99)}`,
    ),
  ];
}
