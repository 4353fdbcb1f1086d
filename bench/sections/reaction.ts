import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createTransport } from 'nodemailer';
import { waitFor, type BenchRun } from '../bench-run';
import { callApi, startDak, type Dak } from '../dak-process';
import type { Effort } from '../effort';
import { judged, milliseconds, noted, percentile, type Measurement } from '../measurement';

const SECTION = 'reaction';
const MAILS = 1_000;
const PER_SECOND = 20;
const BAR_MS = 1_000;
const WAIT_SECONDS = 60;

/**
 * A mail comes in over SMTP, a rule labels its conversation and notifies a webhook endpoint: from the
 * 250 until the receiver has the POST that says so, at a steady rate.
 */
export async function measureReaction(run: BenchRun, effort: Effort): Promise<Measurement[]> {
  const receiver = await startReceiver();
  const dak = await startDak(run, SECTION, { DAK_WEBHOOK_ALLOW: '127.0.0.1' });
  await notifyOfEveryMail(dak, receiver.url);
  const warmUp = await sendAll(dak, Math.ceil(100 * effort.share), 'warm-up');
  await receiver.untilAll(warmUp.size);
  receiver.arrivals.clear();
  const accepted = await sendAll(dak, Math.round(MAILS * effort.share), 'measured');
  await receiver.untilAll(accepted.size);
  const times = [...accepted].map(([id, at]) => receiver.arrivals.get(id)! - at);
  times.sort((a, b) => a - b);
  await dak.stop();
  await receiver.stop();
  const p99 = percentile(times, 0.99);
  return [
    judged({
      section: SECTION,
      what: `received over SMTP to rule applied and webhook delivered, ${PER_SECOND} mails/s, p99`,
      label: 'SMTP to rule to webhook, p99',
      measured: milliseconds(p99),
      ratio: p99 / BAR_MS,
      comparison: 'at most',
      bar: 1,
      barText: '≤ 1 s',
    }),
    noted(SECTION, 'the same, p50', milliseconds(percentile(times, 0.5))),
  ];
}

async function notifyOfEveryMail(dak: Dak, url: string): Promise<void> {
  const webhook = await callApi(dak, 'POST', '/webhooks', {
    url,
    event_types: ['domain.verified'],
    description: 'bench',
  });
  await callApi(dak, 'POST', '/rules', {
    name: 'bench',
    kind: 'automation',
    conditions: [{ field: 'subject', operator: 'starts_with', value: 'Bench' }],
    actions: [
      { type: 'add_labels', labels: ['seen-by-bench'] },
      { type: 'notify_webhook', webhook_id: webhook['id'] },
    ],
  });
}

/** @returns when each mail was accepted, by the id of its conversation */
async function sendAll(dak: Dak, count: number, round: string): Promise<Map<string, number>> {
  const transport = createTransport({
    ...{ host: dak.smtp.host, port: dak.smtp.port, secure: false, ignoreTLS: true },
    ...{ pool: true, maxConnections: 4, maxMessages: Number.POSITIVE_INFINITY },
  });
  const accepted = new Map<string, number>();
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      await delay(Math.max(0, begun + (n * 1000) / PER_SECOND - performance.now()));
      const subject = `Bench ${round} ${n}`;
      await transport.sendMail({
        from: `customer-${n}@customers.example`,
        to: dak.mailboxes[0]!.address,
        subject,
        text: 'A question.\n',
        messageId: `<${round}-${n}@customers.example>`,
      });
      accepted.set(`${round}-${n}`, Date.now());
    }),
  );
  transport.close();
  return await byConversation(dak, accepted, round);
}

/** The sender knows the subject, the POST the conversation; the list of conversations has both. */
async function byConversation(
  dak: Dak,
  accepted: ReadonlyMap<string, number>,
  round: string,
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  await waitFor('The conversations of the bench', WAIT_SECONDS, async () => {
    for (let page = 1; ; page += 1) {
      const reply = await callApi(dak, 'GET', `/conversations?per_page=100&page=${page}`);
      for (const { id, subject } of reply['data'] as { id: string; subject: string }[]) {
        const name = /^Bench (.+) (\d+)$/.exec(subject);
        const at =
          name === null || name[1] !== round ? undefined : accepted.get(`${round}-${name[2]}`);
        if (at !== undefined) found.set(id, at);
      }
      if (reply['has_more'] !== true) return found.size === accepted.size ? true : null;
    }
  });
  return found;
}

interface Receiver {
  url: string;
  /** When the first POST of a conversation came, by its id. */
  arrivals: Map<string, number>;
  untilAll(count: number): Promise<void>;
  stop(): Promise<void>;
}

async function startReceiver(): Promise<Receiver> {
  const arrivals = new Map<string, number>();
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    const at = Date.now();
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.end();
      const event = JSON.parse(Buffer.concat(chunks).toString('utf8')) as {
        type: string;
        data: { conversation_id: string; actions: { type: string; outcome: string }[] };
      };
      if (event.type !== 'rule.matched') return;
      if (event.data.actions.some(({ outcome }) => outcome !== 'done')) return;
      if (!arrivals.has(event.data.conversation_id)) arrivals.set(event.data.conversation_id, at);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    arrivals,
    untilAll: async (count) => {
      await waitFor('The webhooks of the bench', WAIT_SECONDS, () =>
        arrivals.size >= count ? true : null,
      );
    },
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
