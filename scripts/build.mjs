#!/usr/bin/env node
/** Bundles every app and command into one file each, with the migrations beside them, in `dist/`. */
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const apps = readdirSync(join(root, 'apps'));
const ENTRIES = {
  ...Object.fromEntries(apps.map((app) => [`${app}/main`, `apps/${app}/src/main.ts`])),
  'mail/reading-worker': 'apps/mail/src/mail-worker.ts',
  'commands/inspect': 'apps/mail/src/commands/inspect.ts',
  'commands/import': 'apps/mail/src/commands/import-mail.ts',
  'commands/rebuild-analytics': 'apps/mail/src/commands/rebuild-analytics.ts',
  'commands/retention': 'apps/standalone/src/retention.ts',
  'commands/sink': 'apps/standalone/src/sink.ts',
  'commands/migrate': 'apps/standalone/src/migrate.ts',
  'commands/parked': 'apps/standalone/src/parked.ts',
  'commands/superadmin': 'apps/standalone/src/superadmin.ts',
  'commands/backup': 'apps/standalone/src/backup/backup.ts',
  'commands/restore': 'apps/standalone/src/backup/restore.ts',
};
const MIGRATIONS = {
  ...Object.fromEntries(apps.map((app) => [app, `apps/${app}/prisma/migrations`])),
  log: 'libs/platform/log/migrations',
};

rmSync(join(root, 'dist'), { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: ENTRIES,
  outdir: 'dist',
  bundle: true,
  platform: 'node',
  target: 'node22',
  format: 'cjs',
  sourcemap: true,
  sourcesContent: false,
  tsconfig: 'tsconfig.json',
  external: ['pg-native', 'testcontainers', 'swagger-ui-dist'],
  logLevel: 'warning',
  logOverride: { 'empty-import-meta': 'silent' },
});
for (const [service, folder] of Object.entries(MIGRATIONS)) {
  if (existsSync(join(root, folder))) {
    cpSync(join(root, folder), join(root, 'dist/migrations', service), { recursive: true });
  }
}
/** What the page at /docs loads, with the notices that its licence asks for. */
const viewer = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
for (const file of [
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'swagger-ui.css',
  'LICENSE',
  'NOTICE',
]) {
  cpSync(join(viewer, file), join(root, 'dist/docs-viewer', file));
}
