#!/usr/bin/env node
/**
 * The migrations of each service must lead to what its Prisma schema says. Both are compared by
 * Prisma's own engine (WebAssembly) on an in-memory PostgreSQL, so no server and no download is needed.
 * What Prisma does not model (policies, triggers, functions, partial indexes) is not compared.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import * as engineBindings from '@prisma/schema-engine-wasm/schema_engine_bg';
import { PrismaPGlite } from 'pglite-prisma-adapter';

const root = join(import.meta.dirname, '..');
const CHAR_OID = 18;

async function loadEngine() {
  const entry = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm');
  const bytes = readFileSync(join(dirname(entry), 'schema_engine_bg.wasm'));
  const { instance } = await WebAssembly.instantiate(bytes, {
    './schema_engine_bg.js': engineBindings,
  });
  engineBindings.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  globalThis.PRISMA_WASM_PANIC_REGISTRY = {
    set_message: (message) => process.stderr.write(`${message}\n`),
  };
  return engineBindings.SchemaEngine;
}

/** The catalog type "char" is unknown to the adapter; the engine reads it as text just as well. */
function widenCharacterColumns(database) {
  const query = database.query.bind(database);
  database.query = async (...args) => {
    const result = await query(...args);
    for (const field of result.fields) if (field.dataTypeID === CHAR_OID) field.dataTypeID = 25;
    return result;
  };
  return database;
}

function migrationList(folder) {
  return {
    baseDir: folder,
    lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
    shadowDbInitScript: '',
    migrationDirectories: readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort()
      .map((name) => ({
        path: name,
        migrationFile: {
          path: 'migration.sql',
          content: { tag: 'ok', value: readFileSync(join(folder, name, 'migration.sql'), 'utf8') },
        },
      })),
  };
}

const SchemaEngine = await loadEngine();
let drifted = false;
for (const app of readdirSync(join(root, 'apps'))) {
  const path = join(root, 'apps', app, 'prisma/schema.prisma');
  if (!existsSync(path)) continue;
  const content = readFileSync(path, 'utf8');
  const database = widenCharacterColumns(await PGlite.create('memory://'));
  const adapter = bindMigrationAwareSqlAdapterFactory(new PrismaPGlite(database));
  const engine = await SchemaEngine.new(
    { datamodels: [[path, content]] },
    () => undefined,
    adapter,
  );
  const { exitCode, stdout } = await engine.diff({
    from: { tag: 'migrations', ...migrationList(join(root, 'apps', app, 'prisma/migrations')) },
    to: { tag: 'schemaDatamodel', files: [{ path, content }] },
    script: true,
    exitCode: true,
    shadowDatabaseUrl: null,
    filters: { externalTables: [], externalEnums: [] },
  });
  if (exitCode !== 0) {
    drifted = true;
    process.stderr.write(`${app}: the migrations lack what this would do:\n${stdout}\n`);
  }
}
process.exit(drifted ? 1 : 0);
