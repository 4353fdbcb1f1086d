import { parseAddressList } from './addresses';
import { selectBodies } from './body-selection';
import { parseDate } from './dates';
import { decodeHeaderText } from './encoded-words';
import { getHeader, getHeaders } from './header-fields';
import { parseMessageIds } from './message-ids';
import { readMimeTree, type ParseLimits } from './mime-tree';
import type { Address, HeaderField, ParsedMessage } from './parsed-message';

export const PARSE_LIMITS: Readonly<ParseLimits> = {
  maxParts: 1000,
  maxNesting: 32,
  maxHeaderBytes: 256 * 1024,
};

/**
 * Reads a message (RFC 5322, MIME). Never throws, whatever the bytes; errors and exceeded
 * limits are listed in `defects`. Time and memory are linear in the size of `raw`; contents that need
 * no decoding are views of it, so `raw` must not be changed afterwards.
 */
export function parseMessage(raw: Uint8Array, limits: Partial<ParseLimits> = {}): ParsedMessage {
  const { root, leaves, defects } = readMimeTree(raw, { ...PARSE_LIMITS, ...limits });
  const { headers } = root;
  const { text, html, attachments } = selectBodies(root, defects);
  return {
    headers,
    root,
    leaves,
    subject: decodeHeaderText(getHeader(headers, 'subject') ?? ''),
    from: lastAddresses(headers, 'from'),
    sender: lastAddresses(headers, 'sender'),
    replyTo: lastAddresses(headers, 'reply-to'),
    to: allAddresses(headers, 'to'),
    cc: allAddresses(headers, 'cc'),
    bcc: allAddresses(headers, 'bcc'),
    date: readDate(headers),
    messageId: parseMessageIds(getHeader(headers, 'message-id') ?? '')[0] ?? null,
    inReplyTo: parseMessageIds(getHeader(headers, 'in-reply-to') ?? ''),
    references: parseMessageIds(getHeaders(headers, 'references').join(' ')),
    text,
    html,
    attachments,
    defects: [...defects],
  };
}

function lastAddresses(headers: readonly HeaderField[], name: string): Address[] {
  const value = getHeader(headers, name);
  return value === null ? [] : parseAddressList(value);
}

/** Repeated destination fields count as one list (RFC 5322 §4.5.3), each address once. */
function allAddresses(headers: readonly HeaderField[], name: string): Address[] {
  const values = getHeaders(headers, name);
  if (values.length < 2) return values.flatMap(parseAddressList);
  const unique = new Map<string, Address>();
  for (const address of values.flatMap(parseAddressList)) {
    const key = `${address.address.toLowerCase()} ${address.name}`;
    if (!unique.has(key)) unique.set(key, address);
  }
  return [...unique.values()];
}

/** The last Date field that can be read. */
function readDate(headers: readonly HeaderField[]): string | null {
  for (const value of getHeaders(headers, 'date').reverse()) {
    const date = parseDate(value);
    if (date !== null) return date;
  }
  return null;
}
