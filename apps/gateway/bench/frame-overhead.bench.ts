/**
 * What the frame costs: a trivial route through everything (authentication, rate limit, access,
 * validation, headers, metrics) against a bare Express handler with the same body, in alternating
 * rounds, and the time that authentication alone takes.
 *
 * `npx tsx apps/gateway/bench/frame-overhead.bench.ts`
 */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import express from 'express';
import { Registry } from 'prom-client';
import { z } from 'zod';
import { createLogger } from '@dak/platform/logging';
import { MemorySharedState } from '@dak/platform/shared-state';
import { createTestDatabase } from '@dak/testing/database';
import { createGateway, defineProbe, noServices } from '../src/service';

/** autocannon brings no types. */
const autocannon = createRequire(__filename)('autocannon') as (options: {
  url: string;
  headers: Record<string, string>;
  connections: number;
  duration: number;
  workers: number;
}) => Promise<{ requests: { average: number }; non2xx: number }>;

const ROUNDS = 4;
const SECONDS = 4;
const BODY = { items: Array.from({ length: 5 }, (_, i) => ({ id: i, name: `item ${i}` })) };

async function main(): Promise<void> {
  const database = await createTestDatabase({
    name: 'gateway',
    migrationsFolder: join(__dirname, '../prisma/migrations'),
  });
  const sharedState = new MemorySharedState();
  const gateway = createGateway({
    databaseUrl: database.url,
    sharedState,
    logger: createLogger('bench', 'silent'),
    metrics: new Registry(),
    version: 'bench',
    siteUrl: 'http://localhost',
    secret: 'a secret of benchmarks, 32 characters',
    sessionKey: generateKeyPairSync('ed25519').privateKey,
    rateLimits: { readsPerMinute: 1e9, writesPerMinute: 1e9, anonymousPerMinute: 1e9 },
    ...noServices([probe('/bench', ['api.meta']), probe('/bench-public', 'public')]),
  });
  const seed = (await gateway.ensureFirstRun())!;
  const { port } = await gateway.listen(0, '127.0.0.1');
  const bare = express();
  bare.get('/bench', (_request, response) => response.json(BODY));
  const bareServer = createServer(bare);
  await new Promise<void>((resolve) => bareServer.listen(0, '127.0.0.1', resolve));
  const barePort = (bareServer.address() as AddressInfo).port;

  const targets = {
    'bare Express': {
      url: `http://127.0.0.1:${barePort}/bench`,
      headers: {} as Record<string, string>,
    },
    'frame, public': { url: `http://127.0.0.1:${port}/api/v1/bench-public`, headers: {} },
    'frame, API key': {
      url: `http://127.0.0.1:${port}/api/v1/bench`,
      headers: { authorization: `Bearer ${seed.apiKey}` },
    },
  };
  const rates = new Map<string, number[]>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, target] of Object.entries(targets)) {
      const result = await autocannon({
        ...target,
        connections: 16,
        duration: SECONDS,
        workers: 1,
      });
      if (result.non2xx > 0) throw new Error(`${name}: ${result.non2xx} replies were not 2xx`);
      rates.set(name, [...(rates.get(name) ?? []), result.requests.average]);
    }
  }
  const base = median(rates.get('bare Express')!);
  for (const [name, values] of rates) {
    const rate = median(values);
    const micros = (1e6 / rate - 1e6 / base).toFixed(1);
    console.log(
      `${name.padEnd(16)} ${rate.toFixed(0).padStart(7)} req/s  ${((100 * rate) / base).toFixed(0).padStart(4)} %  +${micros} µs`,
    );
  }
  await gateway.close();
  bareServer.close();
  await sharedState.close();
  await database.drop();
}

function probe(path: string, scopes: 'public' | readonly ['api.meta']) {
  return defineProbe(
    { scopes, holder: 'everybody' },
    {
      method: 'GET',
      path,
      summary: 'Measured',
      tag: 'bench',
      responses: { 200: { description: 'The body', schema: z.unknown() } },
      handler: () => ({ status: 200, body: BODY }),
    },
  );
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
