#!/usr/bin/env node
/** Generates the gRPC and event types from `protos/` and the Prisma clients that are used; nothing of it is committed. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
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
/** A schema is also there for `check-drift.mjs`: that alone needs no client. */
const usesClient = (app) => {
  const sources = join(root, 'apps', app, 'src');
  return readdirSync(sources, { recursive: true }).some(
    (name) =>
      name.endsWith('.ts') &&
      !name.startsWith('generated') &&
      readFileSync(join(sources, name), 'utf8').includes('/generated/prisma/'),
  );
};
for (const app of readdirSync(join(root, 'apps'))) {
  const schema = join('apps', app, 'prisma/schema.prisma');
  if (!existsSync(join(root, schema))) continue;
  rmSync(join(root, 'apps', app, 'src/generated'), { recursive: true, force: true });
  if (usesClient(app)) run(bin('prisma'), ['generate', '--schema', schema], engine);
}
