import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { createLogger } from '@dak/platform/logging';
import { MemorySharedState, type SharedState } from '@dak/platform/shared-state';
import { ApiClient, replyValidator } from '@dak/testing/api-client';
import { createTestDatabase, type TestDatabase } from '@dak/testing/database';
import type { FirstRun } from '../src/first-run/first-run';
import { createGateway, noServices, type Gateway, type GatewayOptions } from '../src/service';

export interface GatewayUnderTest {
  gateway: Gateway;
  seed: FirstRun;
  database: TestDatabase;
  sharedState: SharedState;
  /** Of the first replica. */
  metrics: Registry;
  baseUrl: string;
  /** Checks every reply against the OpenAPI document. */
  client(credential?: string): ApiClient;
  /** The demo admin in person, for what a key may not do. */
  adminSession(): Promise<ApiClient>;
  /** A second replica over the same database, by default over the very same shared state. */
  replica(
    sharedState?: SharedState,
  ): Promise<{ gateway: Gateway; baseUrl: string; client(credential?: string): ApiClient }>;
  close(): Promise<void>;
}

/** A gateway on a free port with a database of its own, filled by the first run. */
export async function startGateway(
  overrides: Partial<GatewayOptions> = {},
): Promise<GatewayUnderTest> {
  const database = await createTestDatabase({
    name: 'gateway',
    migrationsFolder: join(__dirname, '../prisma/migrations'),
  });
  const sharedState = overrides.sharedState ?? new MemorySharedState();
  const options: GatewayOptions = {
    databaseUrl: database.url,
    sharedState,
    logger: createLogger('gateway-test', 'silent'),
    metrics: new Registry(),
    version: '0.0.0-test',
    siteUrl: 'http://localhost',
    secret: 'a secret of tests with 32 characters',
    sessionKey: generateKeyPairSync('ed25519').privateKey,
    rateLimits: { readsPerMinute: 100_000, writesPerMinute: 100_000 },
    ...noServices(),
    ...overrides,
  };
  const running: Gateway[] = [];
  const start = async (state = sharedState) => {
    const metrics = new Registry();
    const gateway = createGateway({ ...options, sharedState: state, metrics });
    running.push(gateway);
    const { port } = await gateway.listen(0, '127.0.0.1');
    const validate = replyValidator(gateway.openApi(true), gateway.routeTable());
    const baseUrl = `http://127.0.0.1:${port}`;
    return {
      gateway,
      metrics,
      baseUrl,
      client: (credential?: string) => new ApiClient(baseUrl, credential ?? null, validate),
    };
  };
  const first = await start();
  const seed = await first.gateway.ensureFirstRun();
  if (seed === null) throw new Error('the test database was not empty');
  return {
    ...first,
    adminSession: async () => {
      const { email, password } = seed.admin;
      const { body } = await first.client().post('/auth/login', { email, password });
      return first.client(body.access_token);
    },
    seed,
    database,
    sharedState,
    replica: start,
    close: async () => {
      for (const gateway of running) await gateway.close(100);
      await sharedState.close();
      await database.drop();
    },
  };
}
