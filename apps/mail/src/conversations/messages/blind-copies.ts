import type { MessageRecord } from '@dak/contracts/api';

/** Header fields that name whom a message went to unseen (RFC 5322 §3.6.3, §3.6.6). */
const BLIND = /^(?:resent-)?bcc$/i;
const FIELD = /^(?:resent-)?bcc[ \t]*:/i;
/** Header blocks end before; Dak accepts no longer ones. */
const MAX_HEADER_BYTES = 256 * 1024;

/** The fields without those of blind copies. */
export function shownHeaders(
  headers: NonNullable<MessageRecord['headers']>,
): NonNullable<MessageRecord['headers']> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !BLIND.test(name)));
}

/** The octets of a message without the fields of blind copies in its header; the body stays as it is. */
export async function* withoutBlindCopies(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head: Buffer | null = Buffer.alloc(0);
  for await (const chunk of content) {
    if (head === null) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    const end = endOfHeader(head);
    if (end < 0 && head.length < MAX_HEADER_BYTES) continue;
    yield* cleaned(head, end < 0 ? head.length : end);
    head = null;
  }
  if (head !== null) yield* cleaned(head, head.length);
}

function* cleaned(head: Buffer, end: number): Generator<Buffer> {
  // A field goes on over lines that begin with white space (RFC 5322 §2.2.3).
  const fields = head
    .subarray(0, end)
    .toString('latin1')
    .split(/(?<=\n)(?![ \t])/);
  yield Buffer.from(fields.filter((field) => !FIELD.test(field)).join(''), 'latin1');
  if (end < head.length) yield head.subarray(end);
}

/** Where the empty line begins; -1 = not there yet. */
function endOfHeader(head: Buffer): number {
  const [crlf, lf] = [head.indexOf('\n\r\n'), head.indexOf('\n\n')];
  const found = crlf < 0 ? lf : lf < 0 ? crlf : Math.min(crlf, lf);
  return found < 0 ? -1 : found + 1;
}
