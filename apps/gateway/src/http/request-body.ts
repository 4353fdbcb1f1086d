import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { DomainError, InvalidError } from '@dak/kernel';
import type { BodyShare } from './body-budget';
import { RequestTimeoutError } from './error-status';

/** Milliseconds. */
export interface BodyTimes {
  /** Without receiving a byte. */
  idleMs: number;
  /** For a whole JSON body; streams have the time of their route. */
  jsonMs: number;
}

/** A slow line needs 80 s for 10 MB; a client silent for half a minute holds a socket for nothing. */
export const BODY_TIMES: BodyTimes = { idleMs: 30_000, jsonMs: 120_000 };

export const JSON_BODY_LIMIT = 10 * 1024 * 1024;

/** Requests that sent `Expect: 100-continue` and have not been answered yet. */
const awaitingContinue = new WeakSet<IncomingMessage>();

export function expectContinue(request: IncomingMessage): void {
  awaitingContinue.add(request);
}

function mayGoOn(request: IncomingMessage, response: ServerResponse): void {
  if (awaitingContinue.delete(request)) response.writeContinue();
}

export interface JsonBody {
  /** Undefined when there is no body. */
  value: unknown;
  bytes: Uint8Array;
}

const NO_BODY: JsonBody = { value: undefined, bytes: new Uint8Array(0) };

/**
 * Reads a JSON body, at most `limit` bytes of it into memory.
 * @throws DomainError too_large, unsupported_media or invalid
 */
export async function readJson(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
  times: BodyTimes,
  share: BodyShare | null,
): Promise<JsonBody> {
  const length = request.headers['content-length'];
  if (length === '0' || (length === undefined && !request.headers['transfer-encoding'])) {
    return NO_BODY;
  }
  checkJsonType(request);
  if (Number(length) > limit) throw tooLarge(limit);
  mayGoOn(request, response);
  const bytes = await readAll(request, limit, times, share);
  return bytes.length === 0 ? NO_BODY : { value: parseJson(bytes), bytes };
}

function checkJsonType(request: IncomingMessage): void {
  const type = mediaType(request);
  if (type !== 'application/json' && !type.endsWith('+json')) {
    throw unsupported(`Content-Type must be application/json, not ${type || 'absent'}.`);
  }
  refuseEncoding(request);
}

/** @throws DomainError unsupported_media when the media type is not one of `accepted` (`type/*` matches all of a type) */
export function checkMediaType(request: IncomingMessage, accepted: readonly string[]): void {
  const type = mediaType(request);
  const fits = accepted.some(
    (one) => one === type || (one.endsWith('/*') && type.startsWith(one.slice(0, -1))),
  );
  if (!fits && !accepted.includes('*/*')) {
    throw unsupported(
      `Content-Type must be ${accepted.join(' or ')}, not ${type.slice(0, 80) || 'absent'}.`,
    );
  }
  refuseEncoding(request);
}

function mediaType(request: IncomingMessage): string {
  const header = request.headers['content-type'] ?? '';
  const end = header.indexOf(';');
  return (end < 0 ? header : header.slice(0, end)).trim().toLowerCase();
}

function refuseEncoding(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw unsupported('Content-Encoding is not supported: send the body uncompressed.');
  }
}

function readAll(
  request: IncomingMessage,
  limit: number,
  times: BodyTimes,
  share: BodyShare | null,
): Promise<Uint8Array> {
  // Most bodies come with their headers: no timer for those.
  let clock: BodyClock | null = null;
  let late: NodeJS.Immediate | undefined;
  const read = new Promise<Uint8Array>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const refuse = (error: unknown): void => {
      chunks.length = 0;
      discard(request);
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    late = setImmediate(() => {
      clock = new BodyClock(times.idleMs, times.jsonMs, () => refuse(new RequestTimeoutError()));
    });
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      clock?.refresh();
      if (size > limit) return refuse(tooLarge(limit));
      try {
        share?.add(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        refuse(error);
      }
    });
    request.once('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    request.once('error', () => reject(new InvalidError('The request body ended early.')));
  });
  return read.finally(() => {
    clearImmediate(late);
    clock?.stop();
  });
}

/** Ends the waiting for a body: after a silence, or in any case after a time. */
class BodyClock {
  private readonly idle: NodeJS.Timeout;
  private readonly total: NodeJS.Timeout;

  constructor(idleMs: number, totalMs: number, onTimeout: () => void) {
    this.idle = setTimeout(onTimeout, idleMs);
    this.total = setTimeout(onTimeout, Math.min(totalMs, LONGEST_TIMER_MS));
  }

  refresh(): void {
    this.idle.refresh();
  }

  stop(): void {
    clearTimeout(this.idle);
    clearTimeout(this.total);
  }
}

/** Above, Node fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * The raw body, cut off with an error above `limit` bytes, after a silence of the client, and after `times.totalMs`. While
 * the reader is busy the client is not waited for.
 */
export async function* streamBody(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
  times: { idleMs: number; totalMs: number },
): AsyncIterable<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  mayGoOn(request, response);
  let size = 0;
  const endsAt = performance.now() + times.totalMs;
  // The socket must outlive an early end of the loop: the reply still has to go out.
  const chunks = request.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]();
  try {
    for (;;) {
      const left = Math.min(times.idleMs, endsAt - performance.now());
      const next = (await within(left, chunks.next())) as IteratorResult<Buffer>;
      if (next.done === true) return;
      size += next.value.length;
      if (size > limit) throw tooLarge(limit);
      yield next.value;
    }
  } finally {
    discard(request);
  }
}

/** @throws RequestTimeoutError */
async function within<T>(ms: number, waited: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new RequestTimeoutError()), Math.max(0, ms));
  });
  try {
    return await Promise.race([waited, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Throws the rest of a body away unread: a client that is still sending then gets the reply instead of a reset connection. */
export function discard(request: IncomingMessage): void {
  request.removeAllListeners('data');
  // A reader that waits or rests would keep it from flowing.
  request.removeAllListeners('readable');
  request.resume();
}

function parseJson(bytes: Uint8Array): unknown {
  if (!isUtf8(bytes)) throw new InvalidError('The request body must be valid UTF-8.');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const position = /position (\d+)/.exec((error as Error).message)?.[1];
    throw new InvalidError(
      `The request body is not valid JSON${position === undefined ? '' : ` (near character ${position})`}: check quotes, commas and brackets.`,
      'malformed_json',
    );
  }
  if (RISKY_ESCAPE.test(text)) refuseUnstorable(value);
  return value;
}

/** How NUL and halves of surrogate pairs can come in: bytes that are UTF-8 hold neither. */
const RISKY_ESCAPE = /\\u(0000|[dD][89a-fA-F])/;

/**
 * PostgreSQL text cannot hold U+0000, nor json a lone surrogate (RFC 7493 §2.1). Iterative, so that
 * deep nesting cannot exhaust the stack.
 */
function refuseUnstorable(value: unknown): void {
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next === 'string') {
      refuseUnstorableText(next);
    } else if (typeof next === 'object' && next !== null) {
      for (const [name, member] of Object.entries(next)) {
        refuseUnstorableText(name);
        pending.push(member);
      }
    }
  }
}

function refuseUnstorableText(text: string): void {
  if (text.includes('\0')) {
    throw new InvalidError('A string of the body holds a NUL character (\\u0000): remove it.');
  }
  if (!text.isWellFormed()) {
    throw new InvalidError(
      'A string of the body holds half of a surrogate pair (\\ud800 to \\udfff): cut texts between characters.',
    );
  }
}

function tooLarge(limit: number): DomainError {
  const size = limit >= 1024 * 1024 ? `${Math.floor(limit / (1024 * 1024))} MB` : `${limit} bytes`;
  return new DomainError(
    'too_large',
    'body_too_large',
    `The request body is larger than ${size}: send less at once.`,
  );
}

function unsupported(sentence: string): DomainError {
  return new DomainError('unsupported_media', 'unsupported_media_type', sentence);
}
