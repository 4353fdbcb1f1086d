import { waitFor, type BenchRun } from '../bench-run';
import { startDak, type Dak } from '../dak-process';
import type { Effort } from '../effort';
import { InboundProgress } from '../inbound-progress';
import { measureHttp, requireSuccess } from '../http-load';
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
import {
  ensurePostfix,
  runSmtpSource,
  startPostfix,
  startSmtpSink,
  type SmtpSink,
} from '../postfix';

const SECTION = 'compose';
const MESSAGES = 3_000;
const CONNECTIONS = 10;
const BAR = 0.5;
const WAIT_SECONDS = 180;
const BODY = `${'All work and no play makes a dull mail. '.repeat(100)}\n`;

/**
 * From the first compose over HTTP until the sink has accepted the last mail, against Postfix that
 * relays to the same kind of sink from the first mail of `smtp-source` until its queue is empty.
 */
export async function measureCompose(run: BenchRun, effort: Effort): Promise<Measurement[]> {
  const what = `compose over HTTP to accepted by smtp-sink, 4 KB, ${CONNECTIONS} connections`;
  if (!ensurePostfix(run)) return [peerAbsent(SECTION, what, `≥ ${BAR} ×`)];
  const messages = Math.round(MESSAGES * effort.share);
  const dakSink = await startSmtpSink(run, 'sink-of-dak');
  const postfixSink = await startSmtpSink(run, 'sink-of-postfix');
  const dak = await startDak(run, SECTION, {
    DAK_MAIL_TRANSPORT: `smtp://127.0.0.1:${dakSink.port}`,
  });
  const progress = await InboundProgress.open(dak.mailDatabaseUrl);
  const postfix = await startPostfix(run, 'postfix-relay', {
    kind: 'relay',
    port: postfixSink.port,
  });
  const rates: Record<'dak' | 'accepted' | 'postfix' | 'p50' | 'p99', number[]> = {
    ...{ dak: [], accepted: [], postfix: [], p50: [], p99: [] },
  };
  for (let round = 0; round <= effort.rounds; round += 1) {
    const relayed = await timed(postfixSink, messages, async () => {
      const load = { sessions: 10, bytes: 4096, messages, recipient: 'to@sink.example' };
      await runSmtpSource(run, { ...load, port: postfix.port });
    });
    await waitFor('Emptying the queue of Postfix', WAIT_SECONDS, () =>
      postfix.queued() === 0 ? true : null,
    );
    const composed = await timed(dakSink, messages, () => composeAll(dak, round, messages));
    await progress.settle();
    // The first is for warming up: it is some thousand mails before code and plans have settled.
    if (round > 0) {
      rates.postfix.push(relayed.rate);
      rates.dak.push(composed.rate);
      rates.accepted.push(composed.result.requestsPerSecond);
      rates.p50.push(composed.result.p50);
      rates.p99.push(composed.result.p99);
    }
    run.say(`compose, round ${round}: ${JSON.stringify(rates)}`);
  }
  await postfix.stop();
  await progress.close();
  await dak.stop();
  await dakSink.stop();
  await postfixSink.stop();
  return [
    judged({
      ...{ section: SECTION, what, measured: perSecondOf(rates.dak) },
      peer: `Postfix relays from smtp-source: ${perSecondOf(rates.postfix)}`,
      peerRate: median(rates.postfix),
      label: 'compose to accepted by a sink / Postfix relaying',
      ratio: median(rates.dak) / median(rates.postfix),
      comparison: 'at least',
      bar: BAR,
    }),
    noted(
      SECTION,
      'compose answered with 201 while deliveries run',
      `${perSecond(median(rates.accepted))}, p50 ${milliseconds(median(rates.p50))}, p99 ${milliseconds(median(rates.p99))}`,
    ),
  ];
}

/** Mails per second until the sink has all of them; it must have them once each. */
async function timed<T>(
  sink: SmtpSink,
  count: number,
  send: () => Promise<T>,
): Promise<{ rate: number; result: T }> {
  const before = sink.received();
  const started = performance.now();
  const result = await send();
  await waitFor('Sending what was accepted', WAIT_SECONDS, () =>
    sink.received() - before >= count ? true : null,
  );
  const rate = count / ((performance.now() - started) / 1000);
  if (sink.received() - before !== count) throw new Error('The sink has mail more than once.');
  return { rate, result };
}

async function composeAll(dak: Dak, round: number, count: number) {
  const mailboxId = dak.mailboxes[0]!.id;
  const result = await measureHttp({
    url: `${dak.base_url}/compose/send`,
    connections: CONNECTIONS,
    requests: count,
    headers: { authorization: `Bearer ${dak.api_key}` },
    body: (index) => ({
      headers: { 'idempotency-key': `bench-${round}-${index}` },
      content: JSON.stringify({
        mailbox_id: mailboxId,
        to: [`customer-${index}@sink.example`],
        subject: `Bench ${round}.${index}`,
        body_text: BODY,
        undo_seconds: 0,
      }),
    }),
  });
  return requireSuccess('compose', result);
}
