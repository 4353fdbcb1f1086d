#!/usr/bin/env node
/** `buf breaking` against the protos of the main branch; passes while there are none to compare with. */
import { spawnSync } from 'node:child_process';

const base = ['origin/main', 'main'].find(
  (ref) => spawnSync('git', ['cat-file', '-e', `${ref}:protos/buf.yaml`]).status === 0,
);
if (base === undefined) process.exit(0);
const { status } = spawnSync(
  'node_modules/.bin/buf',
  ['breaking', 'protos', '--against', `.git#ref=${base},subdir=protos`],
  { stdio: 'inherit' },
);
process.exit(status ?? 1);
