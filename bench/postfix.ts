import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@dak/platform/lifecycle';
import { waitFor, type BenchRun } from './bench-run';
import { ensureDebianPackage } from './debian-package';
import { userIds } from './postgres-cluster';

const SMTP_SOURCE = '/usr/sbin/smtp-source';

/** What Postfix does with mail it has accepted: keeps it on HOLD, or relays it to a port. */
export type PostfixTask = { kind: 'hold' } | { kind: 'relay'; port: number };

export interface Postfix {
  readonly port: number;
  /** Messages in any queue. */
  queued(): number;
  emptyQueues(): void;
  stop(): Promise<void>;
}

/** Whether Postfix can be run here: it needs root, and is installed when it is missing. */
export function ensurePostfix(run: BenchRun): boolean {
  return process.getuid?.() === 0 && ensureDebianPackage(run, 'postfix', SMTP_SOURCE);
}

export function postfixVersion(): string | null {
  const asked = spawnSync('/usr/sbin/postconf', ['-h', 'mail_version'], { encoding: 'utf8' });
  return asked.status === 0 ? asked.stdout.trim() : null;
}

/**
 * A Postfix of its own: Debian's defaults, own configuration and queue on the disk that PostgreSQL
 * uses too, no chroot, one relay rule; the machine's Postfix is not touched.
 */
export async function startPostfix(
  run: BenchRun,
  name: string,
  task: PostfixTask,
): Promise<Postfix> {
  const folder = run.newFolder(name);
  const paths = {
    conf: join(folder, 'conf'),
    spool: join(folder, 'spool'),
    data: join(folder, 'data'),
    log: join(folder, 'maillog'),
  };
  for (const path of [paths.conf, paths.spool, paths.data]) mkdirSync(path, { mode: 0o755 });
  const { uid, gid } = userIds('postfix');
  chownSync(paths.data, uid, gid);
  chmodSync(folder, 0o755);
  for (const file of ['postfix-files', 'postfix-files.d', 'dynamicmaps.cf', 'dynamicmaps.cf.d']) {
    const source = join('/etc/postfix', file);
    if (existsSync(source)) cpSync(source, join(paths.conf, file), { recursive: true });
  }
  const port = await freePort();
  writeFileSync(join(paths.conf, 'main.cf'), mainConfig(paths, folder, task));
  writeFileSync(join(paths.conf, 'master.cf'), masterConfig(port));
  execFileSync('postfix', ['-c', paths.conf, 'start'], { stdio: ['ignore', 'ignore', 'ignore'] });
  const stop = run.atEnd(() => {
    spawnSync('postfix', ['-c', paths.conf, 'stop'], { stdio: 'ignore' });
  });
  await waitFor('The start of Postfix', 15, () =>
    existsSync(join(paths.spool, 'pid/master.pid')) ? true : null,
  );
  return {
    port,
    queued: () => queuedMessages(paths.spool),
    emptyQueues: () => {
      spawnSync('postsuper', ['-c', paths.conf, '-d', 'ALL'], { stdio: 'ignore' });
    },
    stop,
  };
}

function mainConfig(
  paths: { spool: string; data: string; log: string },
  folder: string,
  task: PostfixTask,
): string {
  return `compatibility_level = 3.6
queue_directory = ${paths.spool}
data_directory = ${paths.data}
maillog_file = ${paths.log}
maillog_file_prefixes = ${folder}
myhostname = bench.example
mydestination =
mynetworks = 127.0.0.0/8
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
alias_maps =
local_recipient_maps =
smtpd_recipient_restrictions = permit_mynetworks, reject
smtpd_client_connection_rate_limit = 0
smtpd_client_message_rate_limit = 0
default_process_limit = 100
${
  task.kind === 'hold'
    ? 'smtpd_data_restrictions = check_client_access static:HOLD'
    : `relayhost = [127.0.0.1]:${task.port}`
}
`;
}

/** Debian's services without chroot, the listener on our port. */
function masterConfig(port: number): string {
  const template = ['/usr/share/postfix/master.cf.dist', '/etc/postfix/master.cf'].find(existsSync);
  if (template === undefined) throw new Error("Postfix's master.cf template is missing.");
  const lines = readFileSync(template, 'utf8').split('\n');
  const services = lines.map((line) => {
    if (/^smtp\s+inet\s/.test(line)) return `127.0.0.1:${port} inet n - n - - smtpd`;
    return line.replace(/^(\w\S*\s+\S+\s+\S+\s+\S+\s+)[y-]/, '$1n');
  });
  if (!lines.some((line) => line.startsWith('postlog '))) {
    services.push('postlog unix-dgram n - n - 1 postlogd');
  }
  return `${services.join('\n')}\n`;
}

function queuedMessages(spool: string): number {
  const count = (folder: string): number =>
    existsSync(folder)
      ? readdirSync(folder, { withFileTypes: true }).reduce(
          (sum, entry) => sum + (entry.isDirectory() ? count(join(folder, entry.name)) : 1),
          0,
        )
      : 0;
  return ['maildrop', 'incoming', 'active', 'deferred', 'hold'].reduce(
    (sum, queue) => sum + count(join(spool, queue)),
    0,
  );
}

/** Messages per second that `smtp-source` hands in, each session kept open. @throws Error when it fails */
export async function runSmtpSource(
  run: BenchRun,
  load: { port: number; sessions: number; bytes: number; messages: number; recipient: string },
): Promise<number> {
  const started = performance.now();
  const source = run.start(
    'smtp-source',
    SMTP_SOURCE,
    [
      ...['-d', '-s', String(load.sessions), '-l', String(load.bytes), '-m', String(load.messages)],
      ...['-f', 'bench@source.example', '-t', load.recipient, `127.0.0.1:${load.port}`],
    ],
    {},
  );
  const code = await new Promise<number | null>((resolve) => source.child.once('exit', resolve));
  const seconds = (performance.now() - started) / 1000;
  if (code !== 0) throw new Error(`smtp-source failed: ${readFileSync(source.logFile, 'utf8')}`);
  return load.messages / seconds;
}

export interface SmtpSink {
  readonly port: number;
  /** Messages accepted since the start. */
  received(): number;
  stop(): Promise<void>;
}

/** Postfix's `smtp-sink`: takes everything and throws it away. */
export async function startSmtpSink(run: BenchRun, name: string): Promise<SmtpSink> {
  const port = await freePort();
  const user = process.getuid?.() === 0 ? ['-u', 'postfix'] : [];
  const sink = run.start(
    name,
    '/usr/sbin/smtp-sink',
    ['-c', ...user, `127.0.0.1:${port}`, '1000'],
    {
      cwd: '/',
    },
  );
  return {
    port,
    received: () => {
      const counts = readFileSync(sink.logFile, 'latin1').slice(-200);
      return Number(/mesg=(\d+)[^=]*$/.exec(counts)?.[1] ?? 0);
    },
    stop: sink.stop,
  };
}
