import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASES, type DatabaseUrls } from '@dak/platform/deployment';
import { applyMigrations } from '@dak/platform/migrations';
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
 * Gateway, mail and webhook as processes of their own over grpc-js with Redis between them, on the databases and with
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
  const database = await runtimeUrls(dak.adminUrl);
  const grpcPort = await freePort();
  const webhookPort = await freePort();
  const httpPort = await freePort();
  const both = {
    ...plainEnvironment(),
    DAK_LOG_LEVEL: 'warn',
    DAK_REDIS_URL: `redis://127.0.0.1:${redisPort}`,
    DAK_SECRET: secrets.secret,
    DAK_PRINCIPAL_KEY_FILE: keyFile,
  };
  const mail = startService(run, 'mail', {
    ...both,
    DAK_DATA_DIR: run.newFolder('distributed-mail'),
    DAK_MAIL_DATABASE_URL: database.mail,
    DAK_LOG_DATABASE_URL: database.log,
    DAK_MAIL_GRPC_PORT: String(grpcPort),
    DAK_SMTP_PORT: '0',
    DAK_LMTP_PORT: '0',
    DAK_INBOUND_RATE_PER_MINUTE: BENCH_LIMITS.DAK_INBOUND_RATE_PER_MINUTE,
    DAK_SMTP_CONNECTIONS_PER_CLIENT: BENCH_LIMITS.DAK_SMTP_CONNECTIONS_PER_CLIENT,
  });
  const webhook = startService(run, 'webhook', {
    ...both,
    DAK_WEBHOOK_DATABASE_URL: database.webhook,
    DAK_LOG_DATABASE_URL: database.log,
    DAK_WEBHOOK_GRPC_PORT: String(webhookPort),
    DAK_MAIL_GRPC_URL: `127.0.0.1:${grpcPort}`,
  });
  const gateway = startService(run, 'gateway', {
    ...both,
    DAK_GATEWAY_DATABASE_URL: database.gateway,
    DAK_LOG_DATABASE_URL: database.log,
    DAK_MAIL_GRPC_URL: `127.0.0.1:${grpcPort}`,
    DAK_WEBHOOK_GRPC_URL: `127.0.0.1:${webhookPort}`,
    DAK_HTTP_PORT: String(httpPort),
    DAK_READS_PER_MINUTE: BENCH_LIMITS.DAK_READS_PER_MINUTE,
    DAK_WRITES_PER_MINUTE: BENCH_LIMITS.DAK_WRITES_PER_MINUTE,
  });
  const site = `http://127.0.0.1:${httpPort}`;
  await waitFor('The start of the services', 60, async () => {
    for (const { child, logFile } of [gateway, webhook, mail]) {
      if (child.exitCode !== null) throw new Error(readFileSync(logFile, 'utf8').slice(-2000));
    }
    const ready = await fetch(`${site}/readyz`).catch(() => null);
    return ready?.ok === true ? true : null;
  });
  return {
    base_url: `${site}/api/v1`,
    stop: async () => {
      for (const part of [gateway, webhook, mail, redis]) await part.stop();
    },
  };
}

function startService(run: BenchRun, name: string, env: NodeJS.ProcessEnv): StartedProcess {
  const program = join(CHECKOUT, 'dist', name, 'main.js');
  return run.start(name, process.execPath, [...NODE_FLAGS, ...profilingFlags(), program], { env });
}

/** Each service's database under its runtime role; all of them are migrated already. */
async function runtimeUrls(adminUrl: string): Promise<DatabaseUrls> {
  const urls = { gateway: '', mail: '', webhook: '', log: '' };
  for (const service of DATABASES) {
    const { url } = await applyMigrations({
      adminUrl,
      database: `dak_${service}`,
      role: `dak_${service}`,
      folder: join(CHECKOUT, 'dist/migrations', service),
    });
    urls[service] = url;
  }
  return urls;
}
