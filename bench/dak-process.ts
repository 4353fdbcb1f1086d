import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchRun, CHECKOUT, waitFor, type StartedProcess } from './bench-run';
import { databaseUrl, startCluster } from './postgres-cluster';

/** The part of `bootstrap.json` that the bench uses. */
interface Bootstrap {
  base_url: string;
  smtp: { host: string; port: number };
  organization_id: string;
  admin: { email: string; password: string };
  api_key: string;
  mailboxes: { id: string; address: string }[];
}

export interface Dak extends Bootstrap {
  readonly pid: number;
  /** Administrator's URL of the mail service's database. */
  readonly mailDatabaseUrl: string;
  readonly adminUrl: string;
  readonly dataFolder: string;
  /** Of the database server. */
  readonly postgresLog: string;
  /** The process, then its database. */
  stop(): Promise<void>;
}

/** As `npm start` starts it. */
export const NODE_FLAGS = ['--max-semi-space-size=16'];

/**
 * Limits that a single caller of a bench would reach; they are still checked on every request.
 */
export const BENCH_LIMITS = {
  DAK_READS_PER_MINUTE: '100000000',
  DAK_WRITES_PER_MINUTE: '100000000',
  DAK_INBOUND_RATE_PER_MINUTE: '100000000',
  DAK_SMTP_CONNECTIONS_PER_CLIENT: '1000',
};

/** The standalone service, as built in `dist/`, on a fresh PostgreSQL cluster of Debian's packages. */
export async function startDak(
  run: BenchRun,
  name: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Dak> {
  const cluster = await startCluster(run, name);
  const data = run.newFolder(`${name}-data`);
  const started = run.start(
    `${name}-dak`,
    process.execPath,
    [...NODE_FLAGS, ...profilingFlags(), join(CHECKOUT, 'dist/standalone/main.js')],
    {
      env: {
        ...plainEnvironment(),
        DAK_DATA_DIR: data,
        DAK_DATABASE_URL: cluster.adminUrl,
        DAK_HTTP_PORT: '0',
        DAK_SMTP_PORT: '0',
        DAK_LMTP_PORT: '0',
        DAK_LOG_LEVEL: 'warn',
        ...BENCH_LIMITS,
        ...environment,
      },
    },
  );
  const bootstrap = await readBootstrap(started, data);
  return {
    ...bootstrap,
    pid: started.child.pid!,
    adminUrl: cluster.adminUrl,
    dataFolder: data,
    postgresLog: cluster.logFile,
    mailDatabaseUrl: databaseUrl(cluster.adminUrl, 'dak_mail'),
    stop: async () => {
      await started.stop();
      await cluster.stop();
    },
  };
}

/** @throws Error with what the process said when it ends before it is ready */
export async function readBootstrap(started: StartedProcess, data: string): Promise<Bootstrap> {
  const file = join(data, 'bootstrap.json');
  return await waitFor('The start of Dak', 60, () => {
    if (started.child.exitCode !== null) {
      throw new Error(`Dak did not start:\n${readFileSync(started.logFile, 'utf8').slice(-2000)}`);
    }
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Bootstrap) : null;
  });
}

/** The surroundings without any setting of Dak. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(DAK_|OTEL_|NODE_OPTIONS|npm_)/.test(name)),
  );
}

/** `BENCH_CPU_PROFILES=<folder>` keeps a CPU profile of every measured process. */
export function profilingFlags(): string[] {
  const folder = process.env['BENCH_CPU_PROFILES'];
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}

/** One call of the API with the first key. @throws Error with the answer when it is not 2xx */
export async function callApi(
  dak: Pick<Bootstrap, 'base_url' | 'api_key'>,
  method: string,
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const response = await fetch(`${dak.base_url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${dak.api_key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer}`);
  return answer === '' ? {} : (JSON.parse(answer) as Record<string, unknown>);
}
