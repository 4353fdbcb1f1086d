import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { Registry } from 'prom-client';
import { backendOver, createGateway, type FirstRun, type Gateway } from '@dak/gateway';
import { BACKENDS, ofEachBackend } from '@dak/platform/config';
import type { Bootstrap } from '@dak/platform/deployment';
import { InProcessChannel, ServiceRegistry } from '@dak/platform/grpc';
import { createLogger } from '@dak/platform/logging';
import { MemorySharedState } from '@dak/platform/shared-state';
import { ApiClient, replyValidator } from '@dak/testing/api-client';
import { describeWithKafka } from '@dak/testing/kafka';
import { describeWithRedis } from '@dak/testing/redis';
import {
  removeDataDir,
  startDak,
  temporaryDataDir,
  twoOfEach,
  type RunningDak,
} from './running-dak';
import { startStack, type Stack } from './stack';
import { databaseSettings, stackDatabase, stackDatabases } from './stack-databases';
import { otlpSettings, settingsOf, type StackOptions } from './stack-options';

export type StartStack = (options?: StackOptions) => Promise<Stack>;

/** What the processes of a distributed run share besides databases. */
export interface SharedServers {
  redisUrl: string;
  brokers: string;
}

/** The suite over all services in one process, and over a distributed run with replicas. */
export function describeOnBothRuns(title: string, suite: (start: StartStack) => void): void {
  describe(`${title}, in one process`, () => suite(startStack));
  describeDistributed(`${title}, distributed`, (servers) =>
    suite(async (options = {}) => startDistributedStack(await servers(), options)),
  );
}

/** A suite that needs a real Redis and a real Kafka; without one of them it is left out aloud, under `CI` it fails. */
export function describeDistributed(
  title: string,
  suite: (servers: () => Promise<SharedServers>) => void,
): void {
  describeWithRedis(title, (openRedis) =>
    describeWithKafka('with Kafka', (openKafka) =>
      suite(async () => ({ redisUrl: (await openRedis()).url, brokers: await openKafka() })),
    ),
  );
}

/** Topics and keys of this run alone, on servers that other runs use too. */
export function sharedSettings({ redisUrl, brokers }: SharedServers): Record<string, string> {
  const prefix = `t${randomUUID().slice(0, 8)}`;
  return {
    DAK_REDIS_URL: redisUrl,
    DAK_REDIS_PREFIX: `${prefix}:`,
    DAK_KAFKA_BROKERS: brokers,
    DAK_KAFKA_PREFIX: `${prefix}.`,
  };
}

/** The built programs, as `npm run start:distributed` runs them, on test databases. */
async function startDistributedStack(
  servers: SharedServers,
  options: StackOptions,
): Promise<Stack> {
  const undo: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const databases = await stackDatabases(undo);
    const dataDir = temporaryDataDir();
    undo.push(() => removeDataDir(dataDir));
    const dak = await startDak(
      dataDir,
      {
        ...sharedSettings(servers),
        ...databaseSettings(databases),
        ...settingsOf(options),
        DAK_READS_PER_MINUTE: '1000000',
        DAK_WRITES_PER_MINUTE: '1000000',
        DAK_AUTH_PER_MINUTE: '1000',
        ...(options.otlpEndpoint === undefined ? {} : otlpSettings(options.otlpEndpoint)),
      },
      twoOfEach(BACKENDS),
    );
    undo.push(() => dak.stop());
    const gateway = await describingGateway(undo);
    const validate = replyValidator(gateway.openApi(true), gateway.routeTable());
    const { site_url: siteUrl, smtp, lmtp } = dak.bootstrap;
    return {
      gateway,
      seed: await seedOf(dak),
      siteUrl,
      smtpPort: smtp.port,
      lmtpPort: lmtp.port,
      databases,
      failures: dak.errors,
      client: (credential) => new ApiClient(siteUrl, credential ?? null, validate),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Never listens: it tells the routes, which are those of the gateway that runs. */
async function describingGateway(undo: (() => unknown)[]): Promise<Gateway> {
  const database = await stackDatabase('gateway', undo);
  const sharedState = new MemorySharedState();
  undo.push(() => sharedState.close());
  const nobody = new InProcessChannel(new ServiceRegistry());
  const gateway = createGateway({
    databaseUrl: database.url,
    sharedState,
    logger: createLogger('describing', 'silent'),
    metrics: new Registry(),
    version: '0.0.0-test',
    siteUrl: 'http://127.0.0.1',
    secret: 'a secret of tests with 32 characters',
    sessionKey: generateKeyPairSync('ed25519').privateKey,
    ...backendOver(ofEachBackend(() => nobody)),
  });
  undo.push(() => gateway.close(0));
  return gateway;
}

async function seedOf({ bootstrap }: RunningDak): Promise<FirstRun> {
  const idOf = async ({ email, password }: Bootstrap['admin']) => {
    const response = await fetch(`${bootstrap.base_url}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
    const { user } = (await response.json()) as { user: { id: string } };
    return { id: user.id, email, password: password! };
  };
  return {
    organizationId: bootstrap.organization_id,
    admin: await idOf(bootstrap.admin),
    superadmin: await idOf(bootstrap.superadmin),
    apiKey: bootstrap.api_key,
  };
}
