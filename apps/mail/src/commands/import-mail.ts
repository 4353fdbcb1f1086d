import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { MultiBar } from 'cli-progress';
import type { ImportRecord } from '@dak/contracts/api';
import { InvalidError } from '@dak/kernel';
import {
  ImportRefused,
  awaitImport,
  findMailbox,
  sendImport,
  type ImportConnection,
} from './import-client';
import { importSources, type ImportSource } from './import-sources';

const USAGE = `Imports mail into a mailbox: mbox files, Maildirs, .eml files, folders of them, tar and zip.

  npm run import -- --mailbox ADDRESS PATH…

Where to: DAK_URL and DAK_API_KEY, by default those of the data folder (DAK_DATA_DIR, .dak).
An import that was interrupted is started again: what is stored already is recognized.`;

/** How long a server that does not answer is waited for: as long as a restart takes, and some more. */
const PATIENCE_MS = 120_000;
const RETRY_MS = 2000;
/** Tries of one source that reach the server and break off there. */
const TRIES = 5;

export interface ImportSummary {
  received: number;
  stored: number;
  duplicates: number;
  failed: number;
}

export interface ImportCommand {
  /** Asked before every try: a server that was restarted may listen elsewhere. */
  readonly connect: () => ImportConnection;
  readonly mailbox: string;
  readonly paths: readonly string[];
  /** A progress bar, else a line per source. */
  readonly isTerminal: boolean;
  readonly print: (line: string) => void;
}

/** Imports everything and returns the sums; failures of sources and single messages are printed and counted. */
export async function importMail(command: ImportCommand): Promise<ImportSummary> {
  const sources = await importSources(command.paths);
  const mailboxId = await findMailbox(command.connect(), command.mailbox);
  const summary: ImportSummary = { received: 0, stored: 0, duplicates: 0, failed: 0 };
  const progress = command.isTerminal ? progressBar(sources) : null;
  const print = progress?.print ?? command.print;
  try {
    for (const source of sources) {
      progress?.begin(source);
      const record = await importSource({ ...command, print }, mailboxId, source, progress);
      if (record === null) {
        summary.failed += 1;
        continue;
      }
      summary.received += record.received;
      summary.stored += record.stored;
      summary.duplicates += record.duplicates;
      summary.failed += record.failed.length;
      print(`${source.name}: ${countsOf(record)}`);
      for (const { index, reason } of record.failed) print(`  message ${index + 1}: ${reason}`);
    }
  } finally {
    progress?.stop();
  }
  return summary;
}

/** Statuses that say something of the file, not of the key or the mailbox. */
const CONTENT_REFUSED = new Set([400, 413, 415, 422]);

/** Null when the server refused the source, which is printed. */
async function importSource(
  { connect, print }: ImportCommand,
  mailboxId: string,
  source: ImportSource,
  progress: Progress | null,
): Promise<ImportRecord | null> {
  let tries = 0;
  let said = '';
  let giveUpAt = Date.now() + PATIENCE_MS;
  for (;;) {
    let sent = 0;
    try {
      const connection = connect();
      const record = await sendImport(connection, mailboxId, source, (bytes) => {
        sent += bytes;
        progress?.sent(bytes);
      });
      return await awaitImport(connection, record, (current) => progress?.stored(current));
    } catch (error) {
      if (error instanceof ImportRefused && CONTENT_REFUSED.has(error.status)) {
        print(`${source.name}: ${error.message}`);
        return null;
      }
      if (error instanceof ImportRefused && error.status < 500 && error.status !== 429) throw error;
      if (sent > 0) {
        tries += 1;
        giveUpAt = Date.now() + PATIENCE_MS;
      }
      if (tries === TRIES || Date.now() > giveUpAt) throw error;
      const reason = `${source.name}: ${reasonOf(error)}. Sending it again.`;
      if (reason !== said) print(reason);
      said = reason;
      await delay(RETRY_MS);
      progress?.begin(source);
    }
  }
}

interface Progress {
  begin(source: ImportSource): void;
  sent(bytes: number): void;
  stored(record: ImportRecord): void;
  /** Above the bar. */
  readonly print: (line: string) => void;
  stop(): void;
}

/** One bar over all sources by their octets: of each, half for sending, half for storing. */
function progressBar(sources: readonly ImportSource[]): Progress {
  const bars = new MultiBar({
    format: '[{bar}] {percentage}% {state}',
    hideCursor: true,
    stopOnComplete: false,
  });
  const total = sources.reduce((sum, source) => sum + source.sizeBytes, 0);
  const bar = bars.create(Math.max(1, 2 * total), 0, { state: 'sending' });
  const before = new Map<ImportSource, number>();
  let offset = 0;
  for (const source of sources) {
    before.set(source, offset);
    offset += 2 * source.sizeBytes;
  }
  let current = sources[0]!;
  let sent = 0;
  const show = (octets: number, state: string) => {
    bar.update(before.get(current)! + Math.min(octets, 2 * current.sizeBytes), { state });
  };
  return {
    begin(source) {
      current = source;
      sent = 0;
      show(0, 'sending');
    },
    sent(bytes) {
      sent = Math.min(sent + bytes, current.sizeBytes);
      show(sent, 'sending');
    },
    stored(record) {
      const done = record.stored + record.duplicates + record.failed.length;
      const share = record.received === 0 ? 1 : Math.min(1, done / record.received);
      show(current.sizeBytes * (1 + share), countsOf(record));
    },
    print: (line) => bars.log(`${line}\n`),
    stop: () => bars.stop(),
  };
}

function countsOf(record: ImportRecord): string {
  const counts = [`${record.stored} stored`, `${record.duplicates} there already`];
  if (record.failed.length > 0) counts.push(`${record.failed.length} failed`);
  return counts.join(', ');
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

function connectionFrom(environment: NodeJS.ProcessEnv): ImportConnection {
  const url = environment['DAK_URL'];
  const apiKey = environment['DAK_API_KEY'];
  if (url !== undefined && apiKey !== undefined) return { baseUrl: apiBase(url), apiKey };
  const folder = environment['DAK_DATA_DIR'] ?? '.dak';
  const file = join(folder, 'bootstrap.json');
  try {
    const bootstrap = JSON.parse(readFileSync(file, 'utf8')) as {
      base_url: string;
      api_key: string;
    };
    return { baseUrl: apiBase(url ?? bootstrap.base_url), apiKey: apiKey ?? bootstrap.api_key };
  } catch {
    throw new InvalidError(
      `${file} cannot be read: start Dak first, or set DAK_URL and DAK_API_KEY.`,
    );
  }
}

function apiBase(url: string): string {
  const trimmed = url.replace(/\/+$/, '');
  return trimmed.endsWith('/api/v1') ? trimmed : `${trimmed}/api/v1`;
}

async function main(): Promise<void> {
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { mailbox: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    });
    if (values.help === true) return print(USAGE);
    if (values.mailbox === undefined || positionals.length === 0) throw new InvalidError(USAGE);
    const summary = await importMail({
      connect: () => connectionFrom(process.env),
      mailbox: values.mailbox,
      paths: positionals,
      isTerminal: process.stdout.isTTY === true,
      print,
    });
    print(
      `${summary.received} messages: ${summary.stored} stored, ${summary.duplicates} there already, ${summary.failed} failed.`,
    );
    if (summary.failed > 0) process.exitCode = 1;
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n`);
    process.exitCode = 1;
  }
}

if (require.main === module) void main();
