import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { toErrorReply, toProblem } from './error-status';
import type { RouteReply } from './route';

/**
 * Writes what a handler returned. A stream that fails midway ends the connection, so that the client
 * cannot take a part for the whole.
 * @param headers names and values that every reply has; changed in place
 */
export async function writeReply(
  response: ServerResponse,
  headers: string[],
  reply: RouteReply,
): Promise<void> {
  for (const name in reply.headers) setHeader(headers, name, reply.headers[name]!);
  if (reply.version !== undefined) headers.push('ETag', `"${reply.version}"`);
  if (reply.replayed === true) headers.push('Idempotency-Replayed', 'true');
  if (reply.json !== undefined) return writeJson(response, reply.status, headers, reply.json);
  if (reply.body !== undefined) {
    return writeJson(response, reply.status, headers, JSON.stringify(reply.body));
  }
  if (reply.stream === undefined) {
    if (reply.status !== 204) headers.push('Content-Length', '0');
    response.writeHead(reply.status, headers).end();
    return;
  }
  const source = reply.stream instanceof Readable ? reply.stream : Readable.from(reply.stream);
  response.writeHead(reply.status, headers);
  if (response.req.method === 'HEAD') {
    // Nobody reads it, and some never end.
    source.destroy();
    response.end();
    return;
  }
  await pipeline(source, response).catch(() => response.destroy());
}

/** A reply may replace what all replies have. */
function setHeader(headers: string[], name: string, value: string): void {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] !== name) continue;
    headers[i + 1] = value;
    return;
  }
  headers.push(name, value);
}

function writeJson(
  response: ServerResponse,
  status: number,
  headers: string[],
  json: string | Uint8Array | readonly Uint8Array[],
): void {
  headers.push('Content-Type', 'application/json; charset=utf-8');
  if (typeof json === 'string' || json instanceof Uint8Array) {
    headers.push('Content-Length', String(Buffer.byteLength(json)));
    response.writeHead(status, headers).end(json);
    return;
  }
  headers.push('Content-Length', String(json.reduce((sum, part) => sum + part.byteLength, 0)));
  response.writeHead(status, headers);
  // Node gathers what is written in one turn: they leave in one packet.
  for (const part of json) response.write(part);
  response.end();
}

/** The one form of every error reply: `{"error": "<sentence>"}`, or RFC 9457 for those who ask for it. */
export function writeError(
  request: IncomingMessage,
  response: ServerResponse,
  headers: string[],
  requestId: string,
  error: unknown,
): number {
  const reply = toErrorReply(error);
  if (response.headersSent) {
    response.destroy();
    return reply.status;
  }
  for (const [name, value] of reply.headers) headers.push(name, value);
  headers.push('X-Error-Code', reply.code);
  const isProblem = request.headers.accept?.includes('application/problem+json') === true;
  const body = JSON.stringify(isProblem ? toProblem(reply, requestId) : { error: reply.sentence });
  headers.push(
    'Content-Type',
    isProblem ? 'application/problem+json' : 'application/json; charset=utf-8',
    'Content-Length',
    String(Buffer.byteLength(body)),
  );
  response.writeHead(reply.status, headers).end(body);
  return reply.status;
}
