#!/usr/bin/env node
/**
 * Tests the rules themselves: one file per rule that breaks it has to be reported, by the path rules
 * (dependency-cruiser) and by the layer tags (Nx). A rule that never fires is no rule.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import nx from '@nx/eslint-plugin';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { boundaries } from './boundaries.mjs';
import { roomViolations } from './check-rooms.mjs';
import { noBarePauses } from './no-bare-pauses.mjs';
import { sqlInStores } from './sql-in-stores.mjs';

const root = join(import.meta.dirname, '..');

/** rule → files of a small tree; the first one is the violation. */
const PATH_VIOLATIONS = {
  'no-cycles': {
    'libs/a/src/one.ts': `import { two } from './two'; export const one = () => two;`,
    'libs/a/src/two.ts': `import { one } from './one'; export const two = () => one;`,
  },
  'kernel-is-alone': { 'libs/kernel/src/x.ts': `import pg from 'pg'; export const x = pg;` },
  'formats-are-pure': {
    'libs/formats/f/src/x.ts': `import { readFileSync } from 'node:fs'; export const x = readFileSync;`,
  },
  'decisions-are-pure': {
    'apps/mail/src/conversations/conversation-status.ts': `import { s } from './conversation-store'; export const x = s;`,
    'apps/mail/src/conversations/conversation-store.ts': `export const s = 1;`,
  },
  'decisions-are-pure, by its folder': {
    'apps/webhook/src/decisions/breaker.ts': `import { readFileSync } from 'node:fs'; export const x = readFileSync;`,
  },
  'decisions-are-pure, by its first word': {
    'apps/mail/src/rules/definition/parse-rule.ts': `import { s } from '../../db/prisma-tenant'; export const x = s;`,
    'apps/mail/src/db/prisma-tenant.ts': `export const s = 1;`,
  },
  'express-in-gateway-only': {
    'apps/mail/src/x.ts': `import express from 'express'; export const x = express;`,
  },
  'drivers-in-platform-only': {
    'apps/mail/src/x.ts': `import { createClient } from 'redis'; export const x = createClient;`,
  },
  'generated-at-the-edges': {
    'libs/platform/grpc/src/x.ts': `import { y } from '../../../contracts/src/generated/y'; export const x = y;`,
    'libs/contracts/src/generated/y.ts': `export const y = 1;`,
  },
  'generated-prisma-of-own-app': {
    'apps/mail/src/x.ts': `import { y } from '../../gateway/src/generated/y'; export const x = y;`,
    'apps/gateway/src/generated/y.ts': `export const y = 1;`,
  },
  'testing-in-tests-only': {
    'apps/mail/src/x.ts': `import { y } from '../../../libs/testing/database/src/y'; export const x = y;`,
    'libs/testing/database/src/y.ts': `export const y = 1;`,
  },
  'apps-apart': {
    'apps/mail/src/x.ts': `import { y } from '../../gateway/src/y'; export const x = y;`,
    'apps/gateway/src/y.ts': `export const y = 1;`,
  },
};

/** A sentence that has to be among those of `check-rooms.mjs` → files of a small tree. */
const ROOM_VIOLATIONS = {
  'a and b import each other': {
    'apps/x/README.md': '## Rooms\n\n| `a/` | |\n| `b/` | |\n',
    'apps/x/src/a/one.ts': `import { two } from '../b/two'; export const one = two;`,
    'apps/x/src/b/two.ts': `export const two = 1;`,
    'apps/x/src/b/three.ts': `import { one } from '../a/one'; export const three = one;`,
  },
  'c and a import each other': {
    'apps/x/README.md': '## Rooms\n\n| `a/` | |\n| `b/` | |\n| `c/` | |\n',
    'apps/x/src/a/one.ts': `export * from '../b/two';`,
    'apps/x/src/b/two.ts': `export type { Three } from '../c/three';`,
    'apps/x/src/c/three.ts': `export type Three = import('../a/four').Four;`,
    'apps/x/src/a/four.ts': `export type Four = 1;`,
  },
  '(own files) and deep import each other': {
    'apps/x/README.md': '## Rooms\n\n| `a/` | |\n',
    'apps/x/src/a/one.ts': `import { two } from './deep/two'; export const one = two;`,
    'apps/x/src/a/deep/two.ts': `export const two = 1;`,
    'apps/x/src/a/deep/three.ts': `import { four } from '../four'; export const three = four;`,
    'apps/x/src/a/four.ts': `export const four = 1;`,
  },
  'b/ imports a/, which the README ranks above it': {
    'apps/x/README.md': '## Rooms\n\n| `a/` | |\n| `b/` | |\n',
    'apps/x/src/a/one.ts': `export const one = 1;`,
    'apps/x/src/b/two.ts': `import { one } from '../a/one'; export const two = one;`,
  },
  'b/ is not both a folder and a row': {
    'apps/x/README.md': '## Rooms\n\n| `a/` | |\n',
    'apps/x/src/a/one.ts': `export const one = 1;`,
    'apps/x/src/b/two.ts': `export const two = 1;`,
  },
};

/** [file that breaks the tags, its import] */
const LAYER_VIOLATIONS = [
  ['libs/kernel/src/violation.ts', '@dak/platform/postgres'],
  ['libs/formats/rfc5322/src/violation.ts', '@dak/platform/postgres'],
  ['libs/contracts/src/violation.ts', '@dak/formats/rfc5322'],
  ['libs/platform/postgres/src/violation.ts', '@dak/formats/rfc5322'],
  ['libs/testing/database/src/violation.ts', '@dak/formats/rfc5322'],
  ['apps/mail/src/violation.ts', '@dak/gateway'],
];

const silent = [];
mkdirSync(join(root, '.tmp'), { recursive: true });
const tree = mkdtempSync(join(root, '.tmp/boundaries-'));
try {
  for (const [rule, files] of Object.entries(PATH_VIOLATIONS)) {
    const folder = join(tree, rule);
    writeFiles(folder, files);
    writeFileSync(join(folder, 'tsconfig.json'), '{}');
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const { stdout, stderr } = spawnSync(
      join(root, 'node_modules/.bin/depcruise'),
      [
        '--config',
        join(root, '.dependency-cruiser.cjs'),
        '--output-type',
        'json',
        'apps',
        'libs',
      ].filter(
        (arg) =>
          !['apps', 'libs'].includes(arg) || Object.keys(files).some((f) => f.startsWith(arg)),
      ),
      { cwd: folder, encoding: 'utf8' },
    );
    if (stdout === '') throw new Error(`${rule}: ${stderr}`);
    const violations = JSON.parse(stdout).summary.violations;
    if (!violations.some((violation) => violation.rule.name === rule.split(',')[0]))
      silent.push(rule);
  }
  for (const [index, [sentence, files]] of Object.entries(ROOM_VIOLATIONS).entries()) {
    const folder = join(tree, `rooms-${index}`);
    writeFiles(folder, files);
    if (!roomViolations(folder).some((found) => found.includes(sentence))) silent.push(sentence);
  }
} finally {
  rmSync(tree, { recursive: true, force: true });
}

const eslint = new ESLint({
  cwd: root,
  overrideConfigFile: true,
  overrideConfig: [
    {
      files: ['**/*.ts'],
      languageOptions: { parser: tseslint.parser },
      plugins: { '@nx': nx },
      rules: { '@nx/enforce-module-boundaries': ['error', { depConstraints: boundaries }] },
    },
  ],
});
for (const [filePath, target] of LAYER_VIOLATIONS) {
  const code = `import * as x from '${target}'; export const y = x;`;
  const [result] = await eslint.lintText(code, { filePath: join(root, filePath) });
  if (result.errorCount === 0) silent.push(`${filePath} → ${target}`);
}

const MAIL_SOURCE = 'apps/mail/src/sending/outbox';
const SQL_VIOLATIONS = [
  'export const FIND = `select id from draft where id = $1`;',
  "export const touch = (tx) => tx.query('update draft set version = version + 1 where id = $1');",
  'export const page = (after) => `${after}\\n  from draft d\\n where d.id > $1`;',
];
const ALLOWED_SQL = [
  ['move-entry.ts', 'export const lock = `select pg_advisory_xact_lock(1)`;'],
  ['outbox-store.ts', SQL_VIOLATIONS[0]],
];
const sqlLint = new ESLint({
  cwd: root,
  overrideConfigFile: true,
  overrideConfig: [{ languageOptions: { parser: tseslint.parser } }, sqlInStores],
});
const errorsOf = async (file, code) => {
  const [result] = await sqlLint.lintText(code, { filePath: join(root, MAIL_SOURCE, file) });
  return result.errorCount;
};
for (const code of SQL_VIOLATIONS) {
  if ((await errorsOf('move-entry.ts', code)) === 0) silent.push(`sql-in-stores: ${code}`);
}
for (const [file, code] of ALLOWED_SQL) {
  if ((await errorsOf(file, code)) > 0) silent.push(`sql-in-stores, as it should not: ${file}`);
}

const PAUSES = [
  "import { setTimeout as delay } from 'node:timers/promises'; export const pause = () => delay(50);",
  'export const pause = () => new Promise((resolve) => setTimeout(resolve, 50));',
];
const DEADLINE =
  'export const late = new Promise((_, reject) => { setTimeout(() => reject(new Error()), 50); });';
const pauseLint = new ESLint({
  cwd: root,
  overrideConfigFile: true,
  overrideConfig: [
    { files: ['**/*.ts'], languageOptions: { parser: tseslint.parser } },
    noBarePauses,
  ],
});
const pausesIn = async (filePath, code) =>
  (await pauseLint.lintText(code, { filePath: join(root, filePath) }))[0].errorCount;
for (const file of ['apps/mail/src/x.spec.ts', 'libs/platform/log/test/x.ts', 'e2e/mail/x.ts']) {
  for (const code of PAUSES) {
    if ((await pausesIn(file, code)) === 0) silent.push(`no-bare-pauses: ${file}: ${code}`);
  }
  if ((await pausesIn(file, DEADLINE)) > 0) silent.push('no-bare-pauses, as it should not');
}
if ((await pausesIn('apps/mail/src/x.ts', PAUSES[0])) > 0)
  silent.push('no-bare-pauses, as it should not: apps/mail/src/x.ts');

function writeFiles(folder, files) {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

for (const rule of silent) process.stderr.write(`does not fire: ${rule}\n`);
process.exit(silent.length > 0 ? 1 : 0);
