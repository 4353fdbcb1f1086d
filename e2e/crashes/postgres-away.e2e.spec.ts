import { startRestartablePostgres, type RestartablePostgres } from '@dak/testing/crash';
import { eventually, slowPeer, timePasses } from '@dak/testing/waiting';
import { deliver } from '@dak/testing/smtp-sink';
import { subjectsIn } from '../stack/mail-load';
import { removeDataDir, startDak, temporaryDataDir, type RunningDak } from '../stack/running-dak';
import { startWebhookSink, type WebhookSink } from '../stack/webhook-sink';

const AWAY_MS = 12_000;
const RECOVERED_WITHIN_MS = 15_000;
const REQUESTS_AT_A_TIME = 4;

interface Answer {
  status: number;
  retryAfter: string | null;
}

describe('while PostgreSQL is away for 12 s', () => {
  const dataDir = temporaryDataDir();
  let postgres: RestartablePostgres;
  let hooks: WebhookSink;
  let dak: RunningDak;

  beforeAll(async () => {
    postgres = await startRestartablePostgres();
    hooks = await startWebhookSink();
    dak = await startDak(dataDir, {
      DAK_DATABASE_URL: postgres.adminUrl,
      DAK_WEBHOOK_ALLOW: '127.0.0.1',
    });
  }, 90_000);
  afterAll(async () => {
    await dak?.stop();
    await hooks.close();
    await postgres.stop();
    removeDataDir(dataDir);
  }, 60_000);

  it('answers say 503 and when to try again; afterwards everything goes on by itself', async () => {
    const [inbox] = dak.bootstrap.mailboxes;
    await dak.api('POST', '/webhooks', {
      url: hooks.url,
      event_types: ['mail.received', 'rule.matched'],
    });
    await dak.api('POST', '/rules', {
      name: 'Everything',
      kind: 'labeling',
      mailbox_ids: [inbox!.id],
      conditions: [],
      actions: [{ type: 'add_labels', labels: ['met'] }],
    });

    const stop = new AbortController();
    const answers: Answer[] = [];
    const promised: string[] = [];
    const ask = async (path: string, init: RequestInit = {}): Promise<void> => {
      const response = await fetch(dak.bootstrap.base_url + path, {
        ...init,
        headers: {
          authorization: `Bearer ${dak.bootstrap.api_key}`,
          'content-type': 'application/json',
        },
      });
      await response.arrayBuffer();
      answers.push({ status: response.status, retryAfter: response.headers.get('retry-after') });
    };
    const readers = Array.from({ length: REQUESTS_AT_A_TIME }, async (_, reader) => {
      for (let n = 0; !stop.signal.aborted; n += 1) {
        await ask(`/conversations?mailbox=${inbox!.id}`);
        await ask('/labels', {
          method: 'POST',
          body: JSON.stringify({ name: `label-${reader}-${n}` }),
        });
        await slowPeer(50);
      }
    });
    const sender = (async () => {
      for (let n = 0; !stop.signal.aborted; n += 1) {
        const subject = await deliver(dak.bootstrap.smtp.port, inbox!.address, `mail-${n}`);
        if (subject !== null) promised.push(subject);
        await slowPeer(20);
      }
    })();
    await eventually('mail is told', async () => hooks.requests.length > 20);
    await postgres.stopImmediately();
    await timePasses(AWAY_MS);
    await postgres.start();
    const returned = performance.now();
    await eventually('requests succeed again', async () => answers.at(-1)!.status < 300);
    stop.abort();
    await Promise.all([...readers, sender]);

    const missing = async (): Promise<string[]> => {
      const listed = new Set(await subjectsIn(dak, inbox!.id));
      const told = new Map(['mail.received', 'rule.matched'].map((type) => [type, 0]));
      const subjects = new Set<unknown>();
      for (const { event } of hooks.requests) {
        told.set(event.type, (told.get(event.type) ?? 0) + 1);
        if (event.type === 'mail.received') subjects.add(event.data['subject']);
      }
      return [
        ...promised.filter((subject) => !listed.has(subject)).map((one) => `${one} not listed`),
        ...promised.filter((subject) => !subjects.has(subject)).map((one) => `${one} not told`),
        ...(told.get('rule.matched')! < promised.length ? ['mails that met no rule'] : []),
      ];
    };
    let left: string[] = [];
    await eventually(
      () => `everything is there: ${left.slice(0, 5).join(', ')} (${left.length})`,
      async () => (left = await missing()).length === 0,
      200_000,
    );
    const took = Math.round(performance.now() - returned);
    const counts = Object.fromEntries(
      [...Map.groupBy(answers, ({ status }) => status)].map(([status, of]) => [status, of.length]),
    );
    process.stdout.write(
      `all ${promised.length} mails ${took} ms after the return; ${JSON.stringify(counts)}\n`,
    );
    const unavailable = answers.filter(({ status }) => status === 503);
    expect(unavailable.length).toBeGreaterThan(0);
    expect(unavailable.filter(({ retryAfter }) => !(Number(retryAfter) >= 1))).toEqual([]);
    expect(answers.filter(({ status }) => status >= 400 && status !== 503)).toEqual([]);
    expect(took).toBeLessThan(RECOVERED_WITHIN_MS);
  }, 300_000);
});
