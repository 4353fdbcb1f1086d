import { createReadStream } from 'node:fs';
import { open, readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { finished } from 'node:stream/promises';
import { InvalidError } from '@dak/kernel';
import tar from 'tar-stream';
import { archiveEntry } from '../receiving/import/archive-entry';
import type { ImportType } from '../receiving/import/import-items';
import { mboxParts } from './mbox-parts';

/** Approximate octets of one request, which is resent if the connection breaks. */
const PART_BYTES = 48 * 1024 * 1024;

/** One request of an import: a file or a part of it, or files as a tar that is made while it is sent. */
export interface ImportSource {
  readonly name: string;
  readonly type: ImportType;
  /** Octets of the files; slightly more is sent. */
  readonly sizeBytes: number;
  /** A new stream for each attempt; `onSent` gets octets of files as they go out. */
  open(onSent: (bytes: number) => void): AsyncIterable<Uint8Array>;
}

interface FoundFile {
  path: string;
  /** Path in the tar, which encodes flags and folder. */
  entryName: string;
  sizeBytes: number;
}

/**
 * The contents of the command line's paths: mbox files, single messages, archives, Maildirs and folders
 * of any of them.
 * @throws InvalidError when a path is missing or holds no mail
 */
export async function importSources(paths: readonly string[]): Promise<ImportSource[]> {
  const sources: ImportSource[] = [];
  for (const path of paths) {
    const found = await sourcesOf(path);
    if (found.length === 0) throw new InvalidError(`${path} holds no mail that can be imported.`);
    sources.push(...found);
  }
  return sources;
}

async function sourcesOf(path: string): Promise<ImportSource[]> {
  const facts = await stat(path).catch(() => null);
  if (facts === null) throw new InvalidError(`${path} does not exist.`);
  if (!facts.isDirectory()) {
    if (facts.size === 0) return [];
    const type = await typeOf(path);
    return type === 'application/mbox'
      ? mboxSources(path, facts.size)
      : [fileSource({ path, name: path, type, start: 0, end: facts.size })];
  }

  const root = basename(path);
  const messages: FoundFile[] = [];
  const sources: ImportSource[] = [];
  for (const file of await filesUnder(path)) {
    const name = relative(path, file).split(sep).join('/');
    const isMaildir = /(?:^|\/)(?:cur|new)\/[^/]+$/.test(name);
    const entryName = isMaildir ? `${root}/${name}` : name;
    const { kind } = archiveEntry(entryName);
    const { size } = await stat(file);
    if (kind === 'message') messages.push({ path: file, entryName, sizeBytes: size });
    else if (kind === 'mbox' || (!/(?:^|\/)\./.test(name) && (await beginsAsMbox(file)))) {
      sources.push(...(await mboxSources(file, size)));
    }
  }
  sources.unshift(...tarSources(path, messages));
  return sources;
}

async function filesUnder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await filesUnder(path)));
    else if (entry.isFile()) found.push(path);
  }
  return found;
}

async function typeOf(path: string): Promise<ImportType> {
  if (/\.zip$/i.test(path)) return 'application/zip';
  if (/\.(?:tar|tar\.gz|tgz)$/i.test(path)) return 'application/x-tar';
  return (await beginsAsMbox(path)) ? 'application/mbox' : 'message/rfc822';
}

async function beginsAsMbox(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(5), 0, 5, 0);
    return buffer.toString('latin1', 0, bytesRead) === 'From ';
  } finally {
    await file.close();
  }
}

async function mboxSources(path: string, sizeBytes: number): Promise<ImportSource[]> {
  const parts = await mboxParts(path, sizeBytes, PART_BYTES);
  return parts.map(({ start, end }, index) =>
    fileSource({
      path,
      name: partName(path, index, parts.length),
      type: 'application/mbox',
      start,
      end,
    }),
  );
}

function partName(name: string, index: number, count: number): string {
  return count === 1 ? name : `${name} (part ${index + 1} of ${count})`;
}

function fileSource(file: {
  path: string;
  name: string;
  type: ImportType;
  start: number;
  end: number;
}): ImportSource {
  const { path, name, type, start, end } = file;
  return {
    name,
    type,
    sizeBytes: end - start,
    async *open(onSent) {
      const range = { start, end: end - 1, highWaterMark: 256 * 1024 };
      for await (const chunk of createReadStream(path, range)) {
        yield chunk as Buffer;
        onSent((chunk as Buffer).byteLength);
      }
    },
  };
}

function tarSources(name: string, files: readonly FoundFile[]): ImportSource[] {
  const parts: FoundFile[][] = [];
  let bytes = PART_BYTES;
  for (const file of files) {
    if (bytes >= PART_BYTES) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)!.push(file);
    bytes += file.sizeBytes;
  }
  return parts.map((part, index) => tarSource(partName(name, index, parts.length), part));
}

function tarSource(name: string, files: readonly FoundFile[]): ImportSource {
  return {
    name,
    type: 'application/x-tar',
    sizeBytes: files.reduce((sum, file) => sum + file.sizeBytes, 0),
    async *open(onSent) {
      const pack = tar.pack();
      const filled = fill(pack, files, onSent).catch((error: Error) => pack.destroy(error));
      for await (const chunk of pack) yield chunk as Buffer;
      await filled;
    },
  };
}

async function fill(
  pack: tar.Pack,
  files: readonly FoundFile[],
  onSent: (bytes: number) => void,
): Promise<void> {
  for (const file of files) {
    const content = await readFile(file.path);
    const entry = pack.entry({ name: file.entryName, size: content.byteLength });
    entry.end(content);
    await finished(entry);
    onSent(file.sizeBytes);
  }
  pack.finalize();
}
