import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { ImportRecord } from '@dak/contracts/api';
import type { ImportSource } from './import-sources';

export interface ImportConnection {
  /** Up to and with `/api/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
}

/** The server refused; its own sentence. */
export class ImportRefused extends Error {
  override readonly name = 'ImportRefused';
  constructor(
    readonly status: number,
    sentence: string,
  ) {
    super(sentence);
  }
}

const POLL_MS = 500;

/** Id of the mailbox with this address among those that the key sees. @throws ImportRefused */
export async function findMailbox(connection: ImportConnection, address: string): Promise<string> {
  const wanted = address.toLowerCase();
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({ per_page: '100', ...(cursor === null ? {} : { cursor }) });
    const page = (await request(connection, `/mailboxes?${query.toString()}`)) as {
      data: { id: string; address: string }[];
      next_cursor: string | null;
    };
    const found = page.data.find((mailbox) => mailbox.address.toLowerCase() === wanted);
    if (found !== undefined) return found.id;
    cursor = page.next_cursor;
  } while (cursor !== null);
  throw new ImportRefused(404, `There is no mailbox ${address} that this key can see.`);
}

/** Sends one source. @throws ImportRefused, or the error of a connection that broke */
export async function sendImport(
  connection: ImportConnection,
  mailboxId: string,
  source: ImportSource,
  onSent: (bytes: number) => void,
): Promise<ImportRecord> {
  return (await request(connection, `/mailboxes/${mailboxId}/imports`, {
    method: 'POST',
    headers: { 'Content-Type': source.type },
    body: Readable.toWeb(Readable.from(source.open(onSent))) as unknown as ReadableStream,
    duplex: 'half',
  })) as ImportRecord;
}

/** Asks until the import is no longer running. */
export async function awaitImport(
  connection: ImportConnection,
  record: ImportRecord,
  onProgress: (record: ImportRecord) => void,
): Promise<ImportRecord> {
  let current = record;
  onProgress(current);
  while (current.status === 'running') {
    await delay(POLL_MS);
    current = (await request(connection, `/imports/${record.id}`)) as ImportRecord;
    onProgress(current);
  }
  return current;
}

async function request(
  { baseUrl, apiKey }: ImportConnection,
  path: string,
  init: RequestInit & { duplex?: 'half' } = {},
): Promise<unknown> {
  const response = await fetch(`${baseUrl}${path}`, {
    ...init,
    headers: { ...(init.headers as Record<string, string>), Authorization: `Bearer ${apiKey}` },
  });
  const text = await response.text();
  if (response.ok) return JSON.parse(text);
  throw new ImportRefused(response.status, sentenceOf(text) ?? `HTTP ${response.status}`);
}

function sentenceOf(text: string): string | null {
  try {
    const body = JSON.parse(text) as { error?: unknown };
    return typeof body.error === 'string' ? body.error : null;
  } catch {
    return null;
  }
}
