#!/usr/bin/env node
/** Generates the gRPC and event types from `protos/` and the Prisma clients; nothing of it is committed. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');
const bin = (name) => join(root, 'node_modules/.bin', name);
const run = (file, args, env = {}) =>
  execFileSync(file, args, {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env },
  });

rmSync(join(root, 'libs/contracts/src/generated'), { recursive: true, force: true });
run(bin('buf'), ['generate', '--template', 'protos/buf.gen.yaml', 'protos']);

// Prisma asks for its native schema engine even where it is not used; any existing file satisfies it.
const engine = {
  PRISMA_SCHEMA_ENGINE_BINARY: process.env.PRISMA_SCHEMA_ENGINE_BINARY ?? '/bin/true',
};
for (const app of readdirSync(join(root, 'apps'))) {
  const schema = join('apps', app, 'prisma/schema.prisma');
  if (!existsSync(join(root, schema))) continue;
  rmSync(join(root, 'apps', app, 'src/generated'), { recursive: true, force: true });
  run(bin('prisma'), ['generate', '--schema', schema], engine);
}
