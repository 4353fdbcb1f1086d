#!/usr/bin/env node
/**
 * Brings a checkout to where it can run: installs what the lock file names, generates, builds; each
 * only if something has changed since. Runs on any Node that can install (20.19 or newer) and needs
 * nothing installed itself.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  fail(`Dak needs Node.js 20.19 or newer to install itself; this is ${process.versions.node}.`);
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

function say(sentence) {
  process.stderr.write(`${sentence}\n`);
}

function run(command, args) {
  const path = `${join(root, 'node_modules/.bin')}:${process.env.PATH}`;
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    env: { ...process.env, PATH: path },
  });
  if (status !== 0)
    fail(`${command} ${args.join(' ')} failed${error ? `: ${error.message}` : ''}.`);
}

/** Whether node_modules holds the versions of the lock file (what is optional elsewhere may be absent). */
function isInstalled() {
  const marker = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(marker)) return false;
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const present = JSON.parse(readFileSync(marker, 'utf8')).packages;
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === '' || (present[path] === undefined ? optional : present[path].version === version),
  );
}

/** Names, sizes and times of everything that the build reads. */
function fingerprint() {
  const hash = createHash('sha256');
  const visit = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (['node_modules', 'generated', 'test', 'bench', 'dist'].includes(entry.name)) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) visit(path);
      else if (!entry.name.endsWith('.spec.ts')) {
        const { size, mtimeMs } = statSync(path);
        hash.update(`${path} ${size} ${mtimeMs}\n`);
      }
    }
  };
  for (const folder of ['apps', 'libs', 'protos', 'scripts']) visit(join(root, folder));
  hash.update(readFileSync(join(root, 'package-lock.json')));
  return hash.digest('hex');
}

if (!isInstalled()) {
  say('Installing packages (once, about a minute) …');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
}
const stamp = join(root, 'dist/.stamp');
const current = fingerprint();
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== current) {
  say('Building …');
  run('node', ['scripts/generate.mjs']);
  run('node', ['scripts/build.mjs']);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, current);
}
