import type { BenchRun } from '../bench-run';
import { startDak } from '../dak-process';
import type { Effort } from '../effort';
import { InboundProgress } from '../inbound-progress';
import {
  judged,
  median,
  milliseconds,
  noted,
  peerAbsent,
  perSecond,
  perSecondOf,
  type Measurement,
} from '../measurement';
import { ensurePostfix, runSmtpSource, startPostfix } from '../postfix';
import { runProgram } from '../programs';

const SECTION = 'accept';
const MESSAGES = 6_000;
const SESSIONS = 10;
const BYTES = 4_096;
const BAR = 1.5;
const DRAIN_SECONDS = 180;

interface OwnDriver {
  messagesPerSecond: number;
  p50: number;
  p99: number;
  refused: number;
}

/**
 * Durable accept over SMTP against Postfix that puts every message on HOLD: the same driver, disk and
 * run, in alternation. Dak's pipeline runs as in production, where it yields to a burst: a round is
 * shorter than that lasts.
 */
export async function measureAccept(run: BenchRun, effort: Effort): Promise<Measurement[]> {
  const hasPostfix = ensurePostfix(run);
  const messages = Math.round(MESSAGES * effort.share);
  const dak = await startDak(run, SECTION);
  const progress = await InboundProgress.open(dak.mailDatabaseUrl);
  const recipient = dak.mailboxes[0]!.address;
  const load = { sessions: SESSIONS, bytes: BYTES, messages };
  const rates: Record<'dak' | 'postfix' | 'stored', number[]> = {
    dak: [],
    postfix: [],
    stored: [],
  };
  const own: OwnDriver[] = [];

  const postfix = hasPostfix ? await startPostfix(run, 'postfix-hold', { kind: 'hold' }) : null;
  for (let round = 0; round <= effort.rounds; round += 1) {
    // Round 0 warms both up: code compiled, files and tables grown.
    const size = round === 0 ? { ...load, messages: Math.ceil(messages / 4) } : load;
    if (postfix !== null) {
      const rate = await runSmtpSource(run, { ...size, port: postfix.port, recipient });
      if (postfix.queued() !== size.messages)
        throw new Error('Postfix does not hold every message.');
      postfix.emptyQueues();
      if (round > 0) rates.postfix.push(rate);
      const before = await progress.stored();
      const dakRate = await runSmtpSource(run, { ...size, port: dak.smtp.port, recipient });
      if (round > 0) {
        rates.dak.push(dakRate);
        rates.stored.push(((await progress.stored()) - before) / size.messages);
      }
      await progress.untilDrained(DRAIN_SECONDS);
      if ((await progress.stored()) - before !== size.messages) {
        throw new Error('Dak has not stored every message that it accepted.');
      }
      await progress.settle();
      run.say(`accept, round ${round}: ${JSON.stringify(rates)}`);
    }
    if (round !== effort.rounds && postfix !== null) continue;
    const driven = await runProgram<OwnDriver>(run, 'apps/mail/bench/smtp-accept.bench.ts', [
      ...['load', String(dak.smtp.port), String(SESSIONS), String(size.messages), String(BYTES)],
      recipient,
    ]);
    if (driven.refused > 0) throw new Error(`Dak refused ${driven.refused} messages.`);
    if (round > 0) own.push(driven);
    await progress.untilDrained(DRAIN_SECONDS);
    await progress.settle();
  }
  await postfix?.stop();
  await progress.close();
  await dak.stop();

  const what = `SMTP accept, 4 KB, ${SESSIONS} sessions kept open, smtp-source`;
  const of = (pick: (result: OwnDriver) => number) => median(own.map(pick));
  return [
    hasPostfix
      ? judged({
          section: SECTION,
          what,
          label: 'durable SMTP accept / Postfix',
          measured: perSecondOf(rates.dak),
          peer: `Postfix, all on HOLD: ${perSecondOf(rates.postfix)}`,
          peerRate: median(rates.postfix),
          ratio: median(rates.dak) / median(rates.postfix),
          comparison: 'at least',
          bar: BAR,
        })
      : peerAbsent(SECTION, what, `≥ ${BAR} ×`),
    ...(hasPostfix
      ? [
          noted(
            SECTION,
            '… of which already stored when the last was accepted',
            `${Math.round(median(rates.stored) * 100)} %`,
          ),
        ]
      : []),
    noted(
      SECTION,
      'the same, own driver',
      `${perSecond(of((r) => r.messagesPerSecond))}, final dot to 250 p50 ${milliseconds(of((r) => r.p50))}, p99 ${milliseconds(of((r) => r.p99))}`,
    ),
  ];
}
