#!/usr/bin/env node
/**
 * The integration suites of the former version on the tables of this one: during an upgrade processes of both
 * work on them. `.ci/former-version` names the commit of the former version, an argument another one. Suites
 * run of those services whose migrations are others now; a migration that was released has to stay as it was.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const MIGRATIONS = 'prisma/migrations';

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const resolved = (revision) =>
  spawnSync('git', ['rev-parse', '--verify', '--quiet', `${revision}^{commit}`], {
    cwd: root,
    encoding: 'utf8',
  }).stdout.trim();

/** A clone of a few commits gets the others when the former version is not among its own. */
function findFormer() {
  const recorded = readFileSync(join(root, '.ci/former-version'), 'utf8');
  const named = process.argv[2] ?? /^[0-9a-f]{40}$/m.exec(recorded)?.[0];
  if (named === undefined) fail('.ci/former-version names no commit.');
  const found = resolved(named);
  if (found !== '') return found;
  const { stdout } = spawnSync('git', ['rev-parse', '--is-shallow-repository'], { cwd: root });
  const depth = String(stdout).trim() === 'true' ? ['--unshallow'] : [];
  spawnSync('git', ['fetch', '--quiet', ...depth], { cwd: root, stdio: 'inherit' });
  const fetched = resolved(named);
  if (fetched !== '') return fetched;
  if (process.argv[2] !== undefined) fail(`No commit ${named} is known here.`);
  process.stderr.write(
    `NOT COMPARED: the former version ${named} is not in this clone and could not be fetched. Run it again in a clone with history.\n`,
  );
  process.exit(0);
}

/** Texts of a service's migrations by their names. */
function migrationsOf(tree, service) {
  const folder = join(tree, 'apps', service, MIGRATIONS);
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true }) : [];
  const files = names.filter((name) => name.endsWith('.sql'));
  return new Map(files.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

function exportTree(commit, tree) {
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', tree], { input: archive });
}

/** Puts the migrations of now in place of the former ones. @returns the services that have more of them now */
function replaceMigrations(tree) {
  return readdirSync(join(tree, 'apps')).filter((service) => {
    const [before, now] = [migrationsOf(tree, service), migrationsOf(root, service)];
    for (const [name, text] of before) {
      if (now.get(name) === text) continue;
      fail(
        `apps/${service}/${MIGRATIONS}/${name} was released: it stays as it is. Write another migration.`,
      );
    }
    if (now.size === before.size) return false;
    cpSync(join(root, 'apps', service, MIGRATIONS), join(tree, 'apps', service, MIGRATIONS), {
      recursive: true,
    });
    return true;
  });
}

/** The packages of now serve the former version if they have all of its own in the same versions. */
function install(tree) {
  const [former, now] = [tree, root].map(
    (each) => JSON.parse(readFileSync(join(each, 'package-lock.json'), 'utf8')).packages,
  );
  const isServed = Object.entries(former).every(
    ([path, { version }]) => path === '' || now[path]?.version === version,
  );
  if (isServed) symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  else run(tree, 'npm', 'ci', '--no-audit', '--no-fund', '--loglevel=error');
  run(tree, 'node', 'scripts/generate.mjs');
}

function passes(tree, command, ...args) {
  const env = { ...process.env, PATH: `${join(tree, 'node_modules/.bin')}:${process.env.PATH}` };
  return spawnSync(command, args, { cwd: tree, env, stdio: 'inherit' }).status === 0;
}

function run(tree, ...command) {
  if (!passes(tree, ...command)) fail(`${command.join(' ')} failed.`);
}

function runSuites(tree, services) {
  const suites = services.map((service) => `apps/${service}/.*[.]int[.]spec[.]ts$`);
  // As in `.ci/run`: what fails beside others runs once more, alone.
  return (
    passes(tree, 'jest', ...suites) ||
    passes(tree, 'jest', '--onlyFailures', '--maxWorkers=1', ...suites)
  );
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

const former = findFormer();
const tree = mkdtempSync(join(tmpdir(), 'dak-former-'));
process.on('exit', () => rmSync(tree, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
exportTree(former, tree);
const services = replaceMigrations(tree);
const title = git('log', '-1', '--format=%h %s', former);
if (services.length === 0) {
  process.stdout.write(`No migration since ${title}.\n`);
} else {
  process.stdout.write(`Suites of ${services.join(', ')} as of ${title}, on the tables of now\n`);
  install(tree);
  if (!runSuites(tree, services)) {
    fail(`The former version (${former.slice(0, 12)}) does not work on the tables of this one.`);
  }
}
