import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SERVICES } from '@dak/platform/config';
import { embeddedBinaries, systemBinaries } from '@dak/platform/embedded-postgres';
import { startCluster, testPostgresUrl } from '@dak/testing/database';
import { deliver, startSmtpSink, type SmtpSink } from '@dak/testing/smtp-sink';
import { eventually } from '@dak/testing/waiting';
import { describeDistributed, sharedSettings } from '../stack/distributed-stack';
import { arrivedAt, compose, subjectsIn } from '../stack/mail-load';
import {
  removeDataDir,
  startDak,
  temporaryDataDir,
  twoOfEach,
  type RunningDak,
  type ServiceProcess,
} from '../stack/running-dak';
import { startWebhookSink, type WebhookSink } from '../stack/webhook-sink';
import { withDatabase } from '../stack/stack-databases';

const COUNT = 120;
const TEXT_OF_RULE = 'urgent';

describeDistributed('replicas of a distributed run', (servers) => {
  const dataDir = temporaryDataDir();
  const undo: (() => unknown)[] = [];
  let sink: SmtpSink;
  let hooks: WebhookSink;
  let adminUrl: string;
  let settings: Record<string, string>;
  let dak: RunningDak;

  const start = (): Promise<RunningDak> => startDak(dataDir, settings, twoOfEach(SERVICES));

  beforeAll(async () => {
    sink = await startSmtpSink();
    undo.push(() => sink.stop());
    hooks = await startWebhookSink();
    undo.push(() => hooks.close());
    undo.push(() => removeDataDir(dataDir));
    adminUrl = await clusterOfItsOwn(undo);
    settings = {
      ...sharedSettings(await servers()),
      DAK_DATABASE_URL: adminUrl,
      DAK_MAIL_TRANSPORT: `smtp://127.0.0.1:${sink.port}`,
      DAK_WEBHOOK_ALLOW: '127.0.0.1',
      DAK_SMTP_CONNECTIONS_PER_CLIENT: '1000',
    };
    dak = await start();
    undo.push(() => dak.stop());
  }, 120_000);
  afterAll(async () => {
    for (const step of undo.reverse()) await step();
  }, 60_000);

  const ofService = (service: string): ServiceProcess[] =>
    dak.processes().filter((one) => one.service === service);

  it('tells of its processes, each of which answers probes and tells metrics', async () => {
    expect(dak.processes().map(({ service }) => service)).toEqual(
      SERVICES.flatMap((name) => [name, name]),
    );
    for (const { service, http, metrics, grpc, pid } of dak.processes()) {
      expect(process.kill(pid, 0)).toBe(true);
      expect((await fetch(`${http}/readyz`)).status).toBe(200);
      expect(await (await fetch(metrics)).text()).toContain('process_cpu_seconds_total');
      expect(grpc).toEqual(service === 'gateway' ? null : expect.stringMatching(/^[^:]+:\d+$/));
    }
    expect(ofService('gateway')[0]!.http).toBe(dak.bootstrap.site_url);
  });

  it('share the work: every mail is handled once by every consumer', async () => {
    const mailbox = dak.bootstrap.mailboxes[0]!;
    await dak.api('POST', '/webhooks', { url: hooks.url, event_types: ['mail.received'] });
    const rule = await dak.api('POST', '/rules', {
      name: 'Urgent',
      kind: 'labeling',
      enabled: true,
      mailbox_ids: [mailbox.id],
      match: 'all',
      conditions: [{ field: 'subject', operator: 'contains', value: TEXT_OF_RULE }],
      actions: [{ type: 'add_labels', labels: ['hot'] }],
    });
    expect(rule.status).toBe(201);
    const subjects = Array.from({ length: COUNT }, (_, i) => `${TEXT_OF_RULE}-${i}`);
    const { port } = dak.bootstrap.smtp;
    const taken = await Promise.all(subjects.map((text) => deliver(port, mailbox.address, text)));
    expect(taken).toEqual(subjects);

    const runsOn = async (page: number) => {
      const path = `/rules/${rule.body.id}/runs?per_page=100&page=${page}`;
      return (await dak.api('GET', path)).body;
    };
    await eventually(
      'the rule has run for every mail',
      async () => (await runsOn(1)).total >= COUNT,
    );
    await eventually('every mail is told of', async () => hooks.requests.length >= COUNT);
    const runs = [...(await runsOn(1)).data, ...(await runsOn(2)).data];
    const messages = runs.map(({ message_id }: { message_id: string }) => message_id);
    expect([messages.length, new Set(messages).size]).toEqual([COUNT, COUNT]);
    const told = hooks.requests.map(({ headers }) => headers['webhook-id']);
    expect([told.length, new Set(told).size]).toEqual([COUNT, COUNT]);

    await eventually('each consumer group has two members', async () =>
      withDatabase(withName(adminUrl, 'dak_log'), async (database) => {
        const { rows } = await database.query<{ members: number }>(
          `select count(distinct owner)::int as members
             from consumer_offset where group_name ~ '^(rules|webhooks|stream-feed)(@|$)'
            group by group_name`,
        );
        return rows.length === 3 && rows.every(({ members }) => members === 2);
      }),
    );
  }, 60_000);

  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'lose nothing and go on when one of them gets %s under load',
    async (signal) => {
      const [inbox, outbox] = dak.bootstrap.mailboxes;
      const { port } = dak.bootstrap.smtp;
      // The first one of mail is the one with the SMTP port: what it promised it must keep.
      const victim = ofService('mail')[0]!;
      const received: (string | null)[] = [];
      const accepted: (string | null)[] = [];
      const reads: number[] = [];
      let isLoaded = true;
      const reading = (async () => {
        while (isLoaded) reads.push((await dak.api('GET', '/conversations')).status);
      })();
      const load = Array.from({ length: COUNT }, (_, i) => [
        deliver(port, inbox!.address, `in-${signal}-${i}`).then((done) => received.push(done)),
        compose(dak, outbox!.id, `out-${signal}-${i}`).then((done) => accepted.push(done)),
      ]).flat();
      await eventually(
        'some of both were taken',
        async () =>
          received.filter(Boolean).length > 10 &&
          accepted.filter(Boolean).length > 10 &&
          reads.length > 0,
      );
      process.kill(victim.pid, signal);
      await Promise.all(load);

      const successor = await eventually('another process has taken its place', async () => {
        const first = ofService('mail')[0]!;
        return first.pid !== victim.pid && first;
      });
      expect(successor).toEqual({ ...victim, pid: successor.pid });
      await eventually('mail is taken again', async () =>
        deliver(port, inbox!.address, `after-${signal}`).then((done) => done !== null),
      );
      isLoaded = false;
      await reading;

      expect(new Set(reads)).toEqual(new Set([200]));
      expect(accepted.filter((subject) => subject === null)).toEqual([]);
      const promised = received.filter((subject) => subject !== null);
      const stored = await eventually('every mail that got 250 is listed', async () => {
        const subjects = await subjectsIn(dak, inbox!.id);
        return promised.every((subject) => subjects.includes(subject)) && subjects;
      });
      const ofLoad = stored.filter((subject) => subject.startsWith(`in-${signal}`));
      expect(new Set(ofLoad).size).toBe(ofLoad.length);
      // One whose last dot was written, and whose reply nobody saw, waits as `uncertain` (docs/operating.md).
      let underWay: { subject: string; recipients: { status: string }[] }[] = [];
      await eventually(
        () => `no mail is on its way: ${JSON.stringify(underWay)}`,
        async () => {
          underWay = (await dak.api('GET', '/outbox?per_page=100')).body.data;
          return underWay.every(({ recipients }) => recipients[0]!.status === 'uncertain');
        },
      );
      const known = new Set([...arrivedAt(sink), ...underWay.map(({ subject }) => subject)]);
      expect(accepted.filter((subject) => !known.has(subject!))).toEqual([]);
      const sent = arrivedAt(sink);
      expect(sent.filter((subject, i) => sent.indexOf(subject) !== i)).toEqual([]);
    },
    120_000,
  );

  it('end together on SIGTERM, and remember everything', async () => {
    const pids = dak.processes().map(({ pid }) => pid);
    const before = Date.now();
    expect(await dak.stop()).toBe(0);
    expect(Date.now() - before).toBeLessThan(30_000);
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    const { bootstrap } = dak;
    dak = await start();
    expect(dak.bootstrap).toMatchObject({
      api_key: bootstrap.api_key,
      organization_id: bootstrap.organization_id,
      mailboxes: bootstrap.mailboxes,
    });
    expect((await dak.api('GET', '/')).status).toBe(200);
  }, 120_000);

  it('end when the process that started them is killed', async () => {
    const pids = dak.processes().map(({ pid }) => pid);
    await dak.kill();
    await eventually('all have ended', async () =>
      pids.every((pid) => {
        try {
          return !process.kill(pid, 0);
        } catch {
          return true;
        }
      }),
    );
  }, 60_000);
});

/** The databases of a run that migrates by itself have fixed names, so that each needs a cluster. */
async function clusterOfItsOwn(undo: (() => unknown)[]): Promise<string> {
  const binaries = systemBinaries() ?? embeddedBinaries();
  if (binaries === null) return testPostgresUrl();
  const folder = mkdtempSync(join(tmpdir(), 'dak-replicas-'));
  chmodSync(folder, 0o755);
  const { pid, details } = await startCluster(folder, binaries);
  undo.push(() => {
    process.kill(pid, 'SIGINT');
    rmSync(folder, { recursive: true, force: true });
  });
  return details['adminUrl']!;
}

function withName(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}
