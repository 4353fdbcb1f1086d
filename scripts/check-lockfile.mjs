#!/usr/bin/env node
/**
 * What breaks `npm ci` elsewhere: download addresses of one registry in the lock file, and optional
 * platform packages that a dependency names but the lock file lacks.
 */
import { readFileSync } from 'node:fs';

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const problems = [];
for (const [path, entry] of Object.entries(packages)) {
  if (/^https?:/.test(entry.resolved ?? '')) problems.push(`${path} carries a download address`);
  for (const name of Object.keys(entry.optionalDependencies ?? {})) {
    const locked = Object.keys(packages).some((other) => other.endsWith(`node_modules/${name}`));
    if (!locked) problems.push(`${path} names ${name}, which is not locked`);
  }
}
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exit(problems.length > 0 ? 1 : 0);
