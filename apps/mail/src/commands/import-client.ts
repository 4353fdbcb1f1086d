import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
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
  const url = new URL(`${connection.baseUrl}/mailboxes/${mailboxId}/imports`);
  // Not fetch, which gives up after five minutes when the server takes a long stream slowly.
  const sending = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
    method: 'POST',
    headers: { 'Content-Type': source.type, Authorization: `Bearer ${connection.apiKey}` },
  });
  const answered = new Promise<ImportAnswer>((resolve, reject) => {
    sending.on('error', reject);
    sending.on('response', (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    });
  });
  // A refusal comes while the stream still goes out, and says more than the stream that breaks.
  const [answer] = await Promise.all([
    answered,
    pipeline(Readable.from(source.open(onSent)), sending).catch(() => answered),
  ]);
  return parsedAnswer(answer) as ImportRecord;
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

async function request({ baseUrl, apiKey }: ImportConnection, path: string): Promise<unknown> {
  const response = await fetch(`${baseUrl}${path}`, {
    headers: { Authorization: `Bearer ${apiKey}` },
  });
  return parsedAnswer({ status: response.status, body: await response.text() });
}

interface ImportAnswer {
  status: number;
  body: string;
}

function parsedAnswer({ status, body }: ImportAnswer): unknown {
  if (status >= 200 && status < 300) return JSON.parse(body);
  throw new ImportRefused(status, sentenceOf(body) ?? `HTTP ${status}`);
}

function sentenceOf(answer: string): string | null {
  try {
    const body = JSON.parse(answer) as { error?: unknown };
    return typeof body.error === 'string' ? body.error : null;
  } catch {
    return null;
  }
}
