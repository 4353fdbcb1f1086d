/**
 * What authentication adds to a request: from the credential's text to a principal that is current,
 * remembered (every request but the first) and from the database (the first, and after each change).
 *
 * `npx tsx apps/gateway/bench/authentication.bench.ts`; with DAK_TEST_REDIS_URL also over Redis
 */
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { systemClock } from '@dak/kernel';
import { createLogger } from '@dak/platform/logging';
import { Database } from '@dak/platform/postgres';
import { createSharedState } from '@dak/platform/shared-state';
import { createTestDatabase } from '@dak/testing/database';
import { AccessTokens } from '../src/identity/access-token';
import { CredentialAuthenticator } from '../src/identity/credential-authenticator';
import { IdentityVersions } from '../src/identity/identity-versions';
import { LastUsedRecorder } from '../src/identity/last-used-recorder';
import { createGateway, noServices } from '../src/service';

async function main(): Promise<void> {
  const test = await createTestDatabase({
    name: 'gateway',
    migrationsFolder: join(__dirname, '../prisma/migrations'),
  });
  const url = process.env['DAK_TEST_REDIS_URL'];
  const sharedState = await createSharedState({ url, keyPrefix: 'bench:' });
  const sessionKey = generateKeyPairSync('ed25519').privateKey;
  const gateway = createGateway({
    databaseUrl: test.url,
    sharedState,
    logger: createLogger('bench', 'silent'),
    metrics: new Registry(),
    version: 'bench',
    siteUrl: 'http://localhost',
    secret: 'a secret of benchmarks, 32 characters',
    sessionKey,
    ...noServices(),
  });
  const { apiKey } = (await gateway.ensureFirstRun())!;
  const database = new Database({ url: test.url, applicationName: 'bench' });
  const authenticator = new CredentialAuthenticator({
    database,
    versions: new IdentityVersions(sharedState),
    tokens: new AccessTokens(sessionKey),
    lastUsed: new LastUsedRecorder(database, systemClock, console.error),
    clock: systemClock,
  });
  await authenticator.resolve(apiKey);
  const state = url === undefined ? 'memory' : 'Redis';
  await report(`remembered, ${state}`, 20_000, async () => {
    const known = authenticator.recall(apiKey);
    if (known === undefined || !(await authenticator.isCurrent(known)))
      throw new Error('not current');
  });
  await report('from the database', 500, () => authenticator.resolve(apiKey));
  await database.close();
  await gateway.close();
  await sharedState.close();
  await test.drop();
}

async function report(name: string, times: number, work: () => Promise<unknown>): Promise<void> {
  const micros: number[] = [];
  for (let i = 0; i < times; i += 1) {
    const start = performance.now();
    await work();
    micros.push((performance.now() - start) * 1000);
  }
  micros.sort((a, b) => a - b);
  const at = (share: number): string => micros[Math.floor(times * share)]!.toFixed(1);
  console.log(`${name.padEnd(22)} p50 ${at(0.5)} µs  p99 ${at(0.99)} µs`);
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
