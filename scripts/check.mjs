#!/usr/bin/env node
/** Every static check, in one command; goes on after a failure so that one run shows all of them. */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const CHECKS = [
  // The boundary rule reads the cached graph and would skip itself without one.
  ['project graph', 'nx', ['show', 'projects']],
  ['types', 'tsc', ['-p', 'tsconfig.json']],
  ['lint and project boundaries', 'eslint', ['.', '--cache', '--cache-location', '.tmp/eslint']],
  ['format', 'prettier', ['--check', '--log-level', 'warn', '.']],
  [
    'path rules',
    'depcruise',
    ['--config', '.dependency-cruiser.cjs', 'apps', 'bench', 'e2e', 'libs'],
  ],
  ['path rules: doors between rooms', 'node', ['scripts/check-rooms.mjs']],
  ['every rule fires on its fixture', 'node', ['scripts/check-boundaries.mjs']],
  ['dead code and dependencies', 'knip', []],
  ['protos: lint', 'buf', ['lint', 'protos']],
  ['protos: breaking changes', 'node', ['scripts/check-breaking.mjs']],
  ['protos: format', 'buf', ['format', '-d', '--exit-code', 'protos']],
  ['migrations match the schemas', 'node', ['scripts/check-drift.mjs']],
  ['lock file', 'node', ['scripts/check-lockfile.mjs']],
];

const only = process.argv.slice(2);
const failed = [];
for (const [name, command, args] of CHECKS) {
  if (only.length > 0 && !only.some((word) => name.includes(word))) continue;
  const started = Date.now();
  const { status, stdout, stderr } = spawnSync(join(root, 'node_modules/.bin', command), args, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${join(root, 'node_modules/.bin')}:${process.env.PATH}` },
  });
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  process.stdout.write(`${status === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)\n`);
  if (status !== 0) {
    failed.push(name);
    process.stdout.write(`${stdout}${stderr}\n`);
  }
}
if (failed.length > 0) {
  process.stdout.write(`\n${failed.length} failed: ${failed.join(', ')}\n`);
  process.exit(1);
}
