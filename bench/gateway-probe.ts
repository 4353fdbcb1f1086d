/**
 * A gateway with two routes that do nothing, one open to everybody and one behind a credential and a
 * scope: their difference is what authentication costs.
 *
 * `gateway-probe ADMIN_URL FILE` writes the API key to FILE and prints `{"port": …}`.
 */
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { z } from 'zod';
import { createGateway, defineProbe, noServices } from '@dak/gateway';
import { createLogger } from '@dak/platform/logging';
import { applyMigrations } from '@dak/platform/migrations';
import { createSharedState } from '@dak/platform/shared-state';

const BODY = { items: Array.from({ length: 5 }, (_, id) => ({ id, name: `item ${id}` })) };

function probe(path: string, scopes: 'public' | readonly ['api.meta']) {
  return defineProbe(
    { scopes, holder: 'everybody' },
    {
      method: 'GET',
      path,
      summary: 'Answers with the same few bytes',
      tag: 'bench',
      responses: { 200: { description: 'The bytes', schema: z.unknown() } },
      handler: () => ({ status: 200, body: BODY }),
    },
  );
}

async function main(adminUrl: string, keyFile: string): Promise<void> {
  const { url } = await applyMigrations({
    adminUrl,
    database: 'dak_gateway',
    role: 'dak_gateway',
    folder: join(__dirname, '../apps/gateway/prisma/migrations'),
  });
  const gateway = createGateway({
    databaseUrl: url,
    sharedState: await createSharedState({ keyPrefix: 'bench:' }),
    logger: createLogger('bench', 'warn'),
    metrics: new Registry(),
    version: 'bench',
    siteUrl: 'http://localhost',
    secret: 'a secret of benchmarks, 32 characters',
    sessionKey: generateKeyPairSync('ed25519').privateKey,
    rateLimits: { readsPerMinute: 1e9, writesPerMinute: 1e9, anonymousPerMinute: 1e9 },
    ...noServices([probe('/probe', ['api.meta']), probe('/probe-public', 'public')]),
  });
  const made = await gateway.ensureFirstRun();
  if (made === null) throw new Error('The cluster is not fresh.');
  writeFileSync(keyFile, made.apiKey);
  const { port } = await gateway.listen(0, '127.0.0.1');
  process.stdout.write(`${JSON.stringify({ port })}\n`);
  process.once('SIGTERM', () => void gateway.close(1_000).then(() => process.exit(0)));
}

void main(process.argv[2]!, process.argv[3]!);
