import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BACKENDS, serviceVariable, type BackendName } from '@dak/platform/config';
import { migrateAll } from '@dak/platform/deployment';
import { freePort } from '@dak/platform/lifecycle';
import { CHECKOUT, waitFor, type BenchRun, type StartedProcess } from './bench-run';
import {
  BENCH_LIMITS,
  NODE_FLAGS,
  plainEnvironment,
  profilingFlags,
  type Dak,
} from './dak-process';
import { ensureDebianPackage } from './debian-package';

const REDIS = '/usr/bin/redis-server';

export interface DistributedDak {
  readonly base_url: string;
  stop(): Promise<void>;
}

/**
 * Every service as a process of its own over grpc-js with Redis between them, on the databases and with
 * the keys of a standalone Dak, so that both answer the same requests. Null without a Redis.
 */
export async function startDistributedDak(run: BenchRun, dak: Dak): Promise<DistributedDak | null> {
  if (!ensureDebianPackage(run, 'redis-server', REDIS)) return null;
  const redisPort = await freePort();
  const redis = run.start(
    'redis',
    REDIS,
    ['--port', String(redisPort), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    { cwd: run.newFolder('redis') },
  );
  const secrets = JSON.parse(readFileSync(join(dak.dataFolder, 'secrets.json'), 'utf8')) as {
    secret: string;
    signingKey: string;
  };
  const keyFile = join(run.newFolder('distributed-key'), 'key.pem');
  writeFileSync(keyFile, secrets.signingKey, { mode: 0o600 });
  const database = await migrateAll({
    adminUrl: dak.adminUrl,
    migrations: join(CHECKOUT, 'dist/migrations'),
  });
  const httpPort = await freePort();
  const both = {
    ...plainEnvironment(),
    DAK_LOG_LEVEL: 'warn',
    DAK_REDIS_URL: `redis://127.0.0.1:${redisPort}`,
    DAK_SECRET: secrets.secret,
    DAK_PRINCIPAL_KEY_FILE: keyFile,
    DAK_LOG_DATABASE_URL: database.log,
  };
  const ports = new Map<BackendName, string>();
  for (const name of BACKENDS) ports.set(name, String(await freePort()));
  const addresses = Object.fromEntries(
    [...ports].map(([name, port]) => [serviceVariable(name, 'GRPC_URL'), `127.0.0.1:${port}`]),
  );
  const backends = BACKENDS.map((name) =>
    startService(run, name, {
      ...both,
      ...addresses,
      [serviceVariable(name, 'DATABASE_URL')]: database[name],
      [serviceVariable(name, 'GRPC_PORT')]: ports.get(name),
      ...(name === 'mail' && {
        DAK_DATA_DIR: run.newFolder('distributed-mail'),
        DAK_SMTP_PORT: '0',
        DAK_LMTP_PORT: '0',
        DAK_INBOUND_RATE_PER_MINUTE: BENCH_LIMITS.DAK_INBOUND_RATE_PER_MINUTE,
        DAK_SMTP_CONNECTIONS_PER_CLIENT: BENCH_LIMITS.DAK_SMTP_CONNECTIONS_PER_CLIENT,
      }),
    }),
  );
  const gateway = startService(run, 'gateway', {
    ...both,
    ...addresses,
    DAK_GATEWAY_DATABASE_URL: database.gateway,
    DAK_HTTP_PORT: String(httpPort),
    DAK_READS_PER_MINUTE: BENCH_LIMITS.DAK_READS_PER_MINUTE,
    DAK_WRITES_PER_MINUTE: BENCH_LIMITS.DAK_WRITES_PER_MINUTE,
  });
  const site = `http://127.0.0.1:${httpPort}`;
  await waitFor('The start of the services', 60, async () => {
    for (const { child, logFile } of [gateway, ...backends]) {
      if (child.exitCode !== null) throw new Error(readFileSync(logFile, 'utf8').slice(-2000));
    }
    const ready = await fetch(`${site}/readyz`).catch(() => null);
    return ready?.ok === true ? true : null;
  });
  return {
    base_url: `${site}/api/v1`,
    stop: async () => {
      for (const part of [gateway, ...backends.toReversed(), redis]) await part.stop();
    },
  };
}

function startService(run: BenchRun, name: string, env: NodeJS.ProcessEnv): StartedProcess {
  const program = join(CHECKOUT, 'dist', name, 'main.js');
  return run.start(name, process.execPath, [...NODE_FLAGS, ...profilingFlags(), program], { env });
}
