#!/usr/bin/env node
/**
 * One-way doors: inside an app, no two folders import each other, straight or in a circle, at any depth; and the rooms,
 * as the table "Rooms" of the app's README ranks them, import only those below. A folder's own files are one room beside
 * its folders. `check-boundaries.mjs` proves each of the three with a fixture.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';

const OWN = '(own files)';

/** @returns {string[]} one sentence per violation */
export function roomViolations(root) {
  const apps = join(root, 'apps');
  return readdirSync(apps).flatMap((app) => {
    const source = join(apps, app, 'src');
    if (!existsSync(source)) return [];
    const doors = doorsOf(source);
    const name = (folder) => relative(root, folder);
    return [
      ...[...doors].flatMap(([folder, edges]) =>
        circles(edges).map((c) => `${name(folder)}: ${c}`),
      ),
      ...rankViolations(join(apps, app), doors.get(source)).map((v) => `${name(source)}: ${v}`),
    ];
  });
}

/** Folder → its rooms → the rooms that they import → an example. */
function doorsOf(source) {
  const doors = new Map();
  for (const file of filesOf(source)) {
    for (const { fileName } of ts.preProcessFile(readFileSync(file, 'utf8'), true).importedFiles) {
      if (!fileName.startsWith('.')) continue;
      const target = resolve(dirname(file), fileName);
      if (!target.startsWith(`${source}/`) || target.includes('/generated/')) continue;
      const from = relative(source, file).split('/');
      const to = relative(source, target).split('/');
      let depth = 0;
      while (from[depth] === to[depth] && depth < Math.min(from.length, to.length) - 1) depth += 1;
      const a = depth === from.length - 1 ? OWN : from[depth];
      const b = depth === to.length - 1 && !existsSync(join(source, ...to)) ? OWN : to[depth];
      if (a === b) continue;
      const folder = join(source, ...from.slice(0, depth));
      const edges = doors.get(folder) ?? new Map();
      doors.set(folder, edges);
      edges.set(a, (edges.get(a) ?? new Map()).set(b, `${from.join('/')} → ${to.join('/')}`));
    }
  }
  return doors;
}

function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!\.spec)\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes('/generated/'));
}

/** Each import that lies on a circle of rooms. */
function circles(edges) {
  const reaches = (from, to, seen = new Set()) =>
    [...(edges.get(from)?.keys() ?? [])].some(
      (next) => next === to || (!seen.has(next) && reaches(next, to, seen.add(next))),
    );
  return [...edges].flatMap(([a, targets]) =>
    [...targets].flatMap(([b, example]) =>
      reaches(b, a) ? [`${a} and ${b} import each other: ${example}`] : [],
    ),
  );
}

function rankViolations(app, edges = new Map()) {
  const source = join(app, 'src');
  const paths = filesOf(source).map((file) => relative(source, file).split('/'));
  const rooms = [...new Set(paths.flatMap(([room, ...rest]) => (rest.length > 0 ? [room] : [])))];
  const page = join(app, 'README.md');
  const readme = existsSync(page) ? readFileSync(page, 'utf8') : '';
  const section = /^## Rooms\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(readme)?.[1] ?? '';
  const ranked = [...section.matchAll(/^\| `([\w-]+)\/`/gm)].map((match) => match[1]);
  if (rooms.length < 2 && ranked.length === 0) return [];
  const listed = [...new Set([...rooms, ...ranked])].filter(
    (room) => !rooms.includes(room) || !ranked.includes(room),
  );
  return [
    ...listed.map((room) => `${room}/ is not both a folder and a row of the README's rooms`),
    ...[...edges].flatMap(([a, targets]) =>
      [...targets].flatMap(([b, example]) =>
        a !== OWN && ranked.indexOf(b) >= 0 && ranked.indexOf(b) < ranked.indexOf(a)
          ? [`${a}/ imports ${b}/, which the README ranks above it: ${example}`]
          : [],
      ),
    ),
  ];
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const violations = roomViolations(join(import.meta.dirname, '..'));
  for (const violation of violations) process.stderr.write(`${violation}\n`);
  process.exit(violations.length > 0 ? 1 : 0);
}
