import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { embeddedBinaries, systemBinaries } from '@dak/platform/embedded-postgres';
import { startCluster, type RunServer } from '@dak/testing/database';
import { startSmtpSink, type SmtpSink } from '@dak/testing/smtp-sink';
import { eventually } from '@dak/testing/waiting';
import { AcknowledgedLoad, releaseOutgoing, type Acknowledged } from '../stack/acknowledged-load';
import { runCommand } from '../stack/dak-command';
import { describeDistributed, sharedSettings } from '../stack/distributed-stack';
import { arrivedAt, subjectsIn } from '../stack/mail-load';
import {
  removeDataDir,
  startDak,
  temporaryDataDir,
  type DakRun,
  type RunningDak,
} from '../stack/running-dak';

/** A PostgreSQL of the operator, whose administrator is no superuser. */
interface OwnPostgres {
  /** The administrator's URL. */
  url: string;
  stop(): void;
}

async function startOwnPostgres(): Promise<OwnPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'dak-own-postgres-'));
  chmodSync(folder, 0o711);
  const server: RunServer = await startCluster(folder, (systemBinaries() ?? embeddedBinaries())!);
  const superuser = new pg.Client({ connectionString: server.details['adminUrl'] });
  await superuser.connect();
  await superuser.query(`create role ops login createdb createrole password 'first'`);
  await superuser.end();
  const url = new URL(server.details['adminUrl']!);
  url.username = 'ops';
  url.password = 'first';
  return {
    url: url.toString(),
    stop: () => {
      process.kill(server.pid, 'SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const TABLES = `
  select relname as name, relrowsecurity as is_secured
    from pg_class
   where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
   order by relname`;

async function clientOf(adminUrl: string, database: string): Promise<pg.Client> {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  const client = new pg.Client({ connectionString: url.toString() });
  await client.connect();
  return client;
}

/** Tables of the webhook service, those of its days among them. */
async function tablesOf(adminUrl: string): Promise<unknown[]> {
  const client = await clientOf(adminUrl, 'dak_webhook');
  const { rows } = await client.query(TABLES);
  await client.end();
  return rows;
}

function suite(run: DakRun, settings: () => Promise<Record<string, string>>): void {
  const dataDir = temporaryDataDir();
  const elsewhere = temporaryDataDir();
  const alone = temporaryDataDir();
  const folder = join(dirname(dataDir), 'backup');
  let sink: SmtpSink;
  let postgres: OwnPostgres;
  let other: OwnPostgres;
  let dak: RunningDak | undefined;
  let promised: Acknowledged;

  beforeAll(async () => {
    sink = await startSmtpSink();
    [postgres, other] = await Promise.all([startOwnPostgres(), startOwnPostgres()]);
  }, 60_000);
  afterAll(async () => {
    await dak?.stop();
    await sink.stop();
    for (const server of [postgres, other]) server.stop();
    for (const one of [dataDir, elsewhere, alone]) removeDataDir(one);
  }, 60_000);

  const environment = (): Record<string, string> => ({
    DAK_MAIL_TRANSPORT: `smtp://127.0.0.1:${sink.port}`,
  });
  const everythingIsThere = async (restored: RunningDak) => {
    const [inbox] = restored.bootstrap.mailboxes;
    await eventually(
      'all mail that got 250 before is listed',
      async () => {
        const subjects = await subjectsIn(restored, inbox!.id);
        return promised.received.every((subject) => subjects.includes(subject));
      },
      60_000,
    );
    const { body } = await restored.api('GET', '/labels?per_page=100');
    const names = (body.data as { name: string }[]).map(({ name }) => name);
    expect(promised.labels.slice(0, 50).filter((name) => !names.includes(name))).toEqual([]);
  };

  it('brings everything that was acknowledged to another PostgreSQL, and sends nothing before it may and nothing twice', async () => {
    const there = { DAK_DATA_DIR: dataDir, DAK_DATABASE_URL: postgres.url };
    dak = await startDak(dataDir, { ...environment(), ...there, ...(await settings()) }, run);
    const load = new AcknowledgedLoad(dak, 3);
    promised = await load.untilMuch();
    const backup = await runCommand('backup', [folder], there);
    const known = arrivedAt(sink);
    await dak.kill();
    await load.stop();
    expect(backup).toMatchObject({ code: 0 });
    expect(JSON.parse(backup.out)).toMatchObject({ damaged_blobs: 0, missing_blobs: 0 });
    const before = arrivedAt(sink);

    const here = { DAK_DATA_DIR: elsewhere, DAK_DATABASE_URL: other.url };
    const restored = await runCommand('restore', [folder], here);
    expect(restored).toMatchObject({ code: 0 });
    expect(await tablesOf(other.url)).toEqual(await tablesOf(postgres.url));
    dak = await startDak(elsewhere, { ...environment(), ...here, ...(await settings()) }, run);
    await everythingIsThere(dak);
    expect(arrivedAt(sink)).toEqual(before);

    await releaseOutgoing(dak);
    await eventually(
      'every mail that was accepted before has left',
      async () => {
        const arrived = arrivedAt(sink);
        return promised.accepted.every((subject) => arrived.includes(subject));
      },
      60_000,
    );
    const arrived = arrivedAt(sink);
    const twice = arrived.filter((subject, i) => arrived.indexOf(subject) !== i);
    // What left after the last look of the backup is known to the first Dak alone.
    const late = before.slice(Math.max(0, known.length - 20));
    expect(twice.filter((subject) => !late.includes(subject))).toEqual([]);
    expect(dak.errors).toEqual([]);
  }, 240_000);

  it('removes what is kept no longer, of the deployment that runs on that PostgreSQL', async () => {
    const { admin, mailboxes, base_url: url } = dak!.bootstrap;
    const { body: session } = await dak!.api('POST', '/auth/login', admin);
    const { status } = await dak!.api(
      'PATCH',
      '/settings/organization',
      { retention_days: 30 },
      { authorization: `Bearer ${session.access_token}` },
    );
    expect(status).toBe(200);
    const archive = ['From x@y.example Mon Jan  1 00:00:00 2024', 'From: ada@example.org'];
    archive.push(`To: ${mailboxes[0]!.address}`, 'Subject: long ago', '', 'hello', '');
    const imported = await fetch(`${url}/mailboxes/${mailboxes[0]!.id}/imports`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${dak!.bootstrap.api_key}`,
        'content-type': 'application/mbox',
      },
      body: archive.join('\n'),
    });
    expect(imported.status).toBeLessThan(300);
    await eventually('the old mail is there', async () =>
      (await subjectsIn(dak!, mailboxes[0]!.id)).includes('long ago'),
    );
    const { code, out } = await runCommand('retention', ['--now'], {
      ...{ DAK_DATA_DIR: elsewhere, DAK_DATABASE_URL: other.url },
    });
    expect(JSON.parse(out)).toMatchObject({ messages: 1, conversations: 1 });
    expect(code).toBe(0);
    expect(await subjectsIn(dak!, mailboxes[0]!.id)).not.toContain('long ago');
  }, 120_000);

  it('says what it removed also when a table is held, whose pages it cannot clean', async () => {
    const holder = await clientOf(other.url, 'dak_mail');
    await holder.query('begin; lock table message in access share mode');
    const { code, out, lines } = await runCommand('retention', ['--now'], {
      ...{ DAK_DATA_DIR: elsewhere, DAK_DATABASE_URL: other.url },
    });
    await holder.end();
    expect(JSON.parse(out)).toMatchObject({ messages: 0, conversations: 0 });
    expect(lines.at(-1)).toMatch(/^The table message is held by another for long/);
    expect(code).toBe(1);
  }, 120_000);

  it('goes on in one process on a PostgreSQL of its own', async () => {
    await dak!.stop();
    const restored = await runCommand('restore', [folder], { DAK_DATA_DIR: alone });
    expect(restored).toMatchObject({ code: 0 });
    dak = await startDak(alone, environment());
    await everythingIsThere(dak);
  }, 120_000);

  it('needs the folder with the blobs', async () => {
    const { code, lines } = await runCommand('backup', [join(dirname(dataDir), 'none')], {
      ...{ DAK_DATA_DIR: join(dirname(dataDir), 'nothing'), DAK_DATABASE_URL: postgres.url },
    });
    expect(lines).toEqual([
      expect.stringMatching(/nothing holds no data of Dak: set DAK_DATA_DIR/),
    ]);
    expect(code).toBe(1);
  });
}

describe('backup and restore with a PostgreSQL of the operator', () =>
  suite({ app: 'standalone', args: [] }, async () => ({})));

describeDistributed('backup and restore of a distributed run', (servers) =>
  suite({ app: 'distributed', args: ['--replicas', 'mail=2'] }, async () =>
    sharedSettings(await servers()),
  ),
);
