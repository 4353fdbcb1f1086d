import { parseMessage } from '@dak/formats/rfc5322';
import type { MessageRecord } from '@dak/contracts/api';
import { decodeHeaderText } from '@dak/formats/rfc5322';
import type { BlobStore } from '@dak/platform/blobs';

/** Header blocks beyond this are cut; Dak's own limit for accepting mail is the same. */
const MAX_HEADER_BYTES = 256 * 1024;
const BLANK_LINE = /\r?\n\r?\n/;

/** The header fields of a stored message by name as written, decoded; reads no more of it than its header. */
export async function readHeaders(
  blobs: BlobStore,
  organizationId: string,
  sha256: string,
): Promise<NonNullable<MessageRecord['headers']>> {
  const head = await readHead(blobs, organizationId, sha256);
  const headers: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const { name, value } of parseMessage(head).headers) {
    (headers[name] ??= []).push(decodeHeaderText(value));
  }
  return headers;
}

/** The HTML body as it came. Never to be shown without sanitizing. */
export async function readRawHtml(
  blobs: BlobStore,
  organizationId: string,
  sha256: string,
): Promise<string | null> {
  return parseMessage(await blobs.get(organizationId, sha256)).html;
}

async function readHead(blobs: BlobStore, organizationId: string, sha256: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const stream = await blobs.stream(organizationId, sha256);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= MAX_HEADER_BYTES || BLANK_LINE.test(chunk.toString('latin1'))) break;
  }
  const text = Buffer.concat(chunks).toString('latin1');
  const end = BLANK_LINE.exec(text);
  return Buffer.from(end === null ? text : text.slice(0, end.index + end[0].length), 'latin1');
}
