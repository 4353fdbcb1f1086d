#!/usr/bin/env node
/**
 * Proves `docs/adding-a-service.md`: adds the ledger of `scripts/adding-a-service` to a copy of this repository, where no
 * more files may change than the page names, and runs there what finds a step that was left out. `--keep` keeps the copy.
 */
import { execFileSync, spawn } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { EDITS } from './adding-a-service/edits.mjs';
import { Compiler } from './adding-a-service/compiler.mjs';

const root = join(import.meta.dirname, '..');
const NEW = join(import.meta.dirname, 'adding-a-service/new');
const MOST_CHANGED = 12;
const MIGRATION = 'apps/ledger/prisma/migrations/20261125000000_ledger/migration.sql';
const FRAGMENTS = ['tenant-directory', 'idempotency', 'log'];
const SECURED = /^alter table entry enable row level security;\n/m;

/** A step that is left out → the file in which the compiler finds it. */
const FOUND_BY_COMPILER = {
  'libs/platform/config/src/services.ts': 'apps/gateway/src/backends.ts',
  'libs/contracts/src/rights/rights-table.ts': 'apps/gateway/src/ledger/entry-routes.ts',
  'apps/gateway/src/backends.ts': 'apps/gateway/src/backends.ts',
  'apps/standalone/src/service.ts': 'apps/standalone/src/service.ts',
};
/** A step that the doors between rooms find. */
const ROOMS = 'apps/gateway/README.md';
/** A step that is left out → the test that fails. */
const FOUND_BY_TEST = {
  'docs/operating.md': 'libs/platform/config/src/catalog.spec.ts',
  'docs/rights.md': 'libs/contracts/src/rights/rights-page.spec.ts',
  'docs/architecture.md': 'e2e/pages/architecture-page.spec.ts',
};
const ROW_LEVEL_SECURITY = 'e2e/isolation/row-level-security.e2e.spec.ts';
const SUITES = [
  'e2e/isolation/isolation.e2e.spec.ts',
  ROW_LEVEL_SECURITY,
  'e2e/ledger/ledger.e2e.spec.ts',
  ...Object.values(FOUND_BY_TEST),
];

const copy = mkdtempSync(join(tmpdir(), 'dak-adding-a-service-'));
const bin = join(copy, 'node_modules/.bin');
const started = Date.now();
try {
  copyRepository();
  const added = addService();
  requireAsThePageSays();
  await run('node', ['scripts/generate.mjs']);
  await Promise.all([checks(added), tests()]);
  say('holds');
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
} finally {
  if (!process.argv.includes('--keep')) rmSync(copy, { recursive: true, force: true });
}

/** What Git would commit, on the packages that are installed here. */
function copyRepository() {
  const listed = git(root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard');
  for (const path of listed.split('\0').filter((name) => name !== '')) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    copyFileSync(join(root, path), join(copy, path));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  git(copy, 'init', '-q');
  git(copy, 'add', '-A');
  git(copy, '-c', 'user.name=Dak', '-c', 'user.email=dak@dak.example', 'commit', '-qm', 'before');
}

/** @returns the paths of the new files */
function addService() {
  cpSync(NEW, copy, { recursive: true });
  const fragments = FRAGMENTS.flatMap((library) => {
    const folder = join(copy, 'libs/platform', library, 'sql');
    return readdirSync(folder)
      .sort()
      .map((file) => readFileSync(join(folder, file), 'utf8'));
  });
  change(MIGRATION, (tables) => [...fragments, tables].join('\n'));
  for (const [path, edits] of Object.entries(EDITS)) {
    change(path, (text) =>
      edits.reduce((now, [after, what]) => insert(path, now, after, what), text),
    );
  }
  return readdirSync(NEW, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(NEW.length + 1));
}

function insert(path, text, after, what) {
  const found = typeof after === 'string' ? after : after.exec(text)?.[0];
  if (found === undefined || !text.includes(found)) throw new Error(`${path} has no ${after}`);
  const added = typeof what === 'string' ? what : what(found);
  return text.replace(found, () => found + added);
}

/** The files that changed are those of the page's table, all of them, and not too many. */
function requireAsThePageSays() {
  const page = readFileSync(join(copy, 'docs/adding-a-service.md'), 'utf8');
  const section = /^## Files that change\n([\s\S]*?)^## /m.exec(page)?.[1] ?? '';
  const named = [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, path]) => path).sort();
  const changed = git(copy, 'diff', '--name-only').split('\n').filter(Boolean).sort();
  if (named.join() !== changed.join()) {
    throw new Error(`The page names ${named.join(', ')}; changed were ${changed.join(', ')}.`);
  }
  if (changed.length > MOST_CHANGED) throw new Error(`${changed.length} files were changed.`);
  say(`${changed.length} files changed, as the page says`);
}

/** Types, lint, doors and drift of the whole; and that the compiler finds what is left out. */
async function checks(added) {
  const compiler = new Compiler(copy);
  requireNone('types', compiler.problems());
  for (const [path, where] of Object.entries(FOUND_BY_COMPILER)) {
    const left = compiler.problems(where, { [path]: before(path) });
    if (left.length === 0) throw new Error(`${path} can be left out.`);
  }
  say('types hold, and do not without a step');
  const sources = [...added, ...Object.keys(EDITS)].filter((path) => path.endsWith('.ts'));
  // The boundary rule reads the cached graph and would skip itself without one.
  await run('nx', ['show', 'projects']);
  await run('eslint', sources);
  await run('depcruise', ['--config', '.dependency-cruiser.cjs', 'apps', 'e2e', 'libs']);
  const readme = readFileSync(join(copy, ROOMS), 'utf8');
  change(ROOMS, () => before(ROOMS));
  const isFound = await run('node', ['scripts/check-rooms.mjs']).then(
    () => false,
    () => true,
  );
  if (!isFound) throw new Error(`${ROOMS} can be left out.`);
  change(ROOMS, () => readme);
  await run('node', ['scripts/check-rooms.mjs']);
  await run('node', ['scripts/check-drift.mjs']);
  await run('buf', ['lint', 'protos']);
  say('lint, doors and migrations hold');
}

/** The isolation of every route and table with the new ones, and that tests find what is left out. */
async function tests() {
  await run('node', ['scripts/build.mjs']);
  await jest(SUITES);
  say('the suites hold');
  for (const path of Object.keys(FOUND_BY_TEST)) change(path, () => before(path));
  change(MIGRATION, (sql) => {
    if (!SECURED.test(sql)) throw new Error('The table has no row-level security.');
    return sql.replace(SECURED, '');
  });
  const left = await failing([...Object.values(FOUND_BY_TEST), ROW_LEVEL_SECURITY]);
  if (left.length > 0) throw new Error(`A step can be left out without a failure of ${left}.`);
  say('the suites fail without a step');
}

function jest(paths, ...args) {
  return run('jest', ['--cacheDirectory', join(copy, '.tmp/jest'), ...args, ...paths]);
}

/** @returns those of the suites that do not fail */
async function failing(paths) {
  const report = join(copy, '.tmp/left-out.json');
  await jest(paths, '--json', '--outputFile', report).catch(() => undefined);
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  return paths.filter(
    (path) => !testResults.some(({ name, status }) => name.endsWith(path) && status === 'failed'),
  );
}

/** The file without the step. */
function before(path) {
  return git(copy, 'show', `HEAD:${path}`);
}

function change(path, edit) {
  const file = join(copy, path);
  writeFileSync(file, edit(readFileSync(file, 'utf8')));
}

function requireNone(what, problems) {
  if (problems.length > 0) throw new Error(`${what}:\n${problems.slice(0, 20).join('\n')}`);
}

function git(cwd, ...args) {
  return execFileSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 28 });
}

/** @throws Error with what it said */
function run(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: copy,
      env: { ...process.env, PATH: `${bin}:${process.env.PATH}`, NX_DAEMON: 'false' },
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => (said += text));
    }
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) return resolve(said);
      reject(new Error(`${command} ${args.join(' ')} failed:\n${said.slice(-8_000)}`));
    });
  });
}

function say(sentence) {
  process.stdout.write(`${sentence} (${((Date.now() - started) / 1000).toFixed(0)} s)\n`);
}
