/** One reply of a server, all its lines (RFC 5321 §4.2). */
export interface SmtpReply {
  /** 200 to 599 */
  readonly code: number;
  /** `class.subject.detail` of RFC 3463 from the first line, where the server gave one. */
  readonly enhanced: string | null;
  /** The lines without reply code and enhanced code. */
  readonly lines: readonly string[];
  /** The lines joined by a space, at most 1 000 characters. */
  readonly text: string;
}

/** The server spoke something that is not SMTP, or without end. */
export class SmtpProtocolError extends Error {
  override readonly name = 'SmtpProtocolError';
}

/**
 * RFC 5321 §4.5.3.1.5 gives a reply line 512 octets. Real servers exceed that in explanations, none
 * the limits here; a server that does is cut off before it fills our memory.
 */
const MAX_LINE_OCTETS = 4096;
const MAX_LINES = 256;
const MAX_TEXT_CHARACTERS = 1000;

const REPLY_LINE = /^([2-5]\d\d)([ -]|$)(.*)$/s;
const ENHANCED_CODE = /^([245]\.\d{1,3}\.\d{1,3})(?: |$)/;

/** Gathers octets of a connection into replies. Holds the rest of an unfinished one. */
export class SmtpReplyParser {
  #rest = '';
  #code = 0;
  #lines: string[] = [];

  /** True while octets of an unfinished reply are held. */
  get pending(): boolean {
    return this.#rest !== '' || this.#lines.length > 0;
  }

  /**
   * Calls `onReply` for each reply completed by these octets, oldest first; also for those before
   * an error.
   * @throws SmtpProtocolError when they are no SMTP, or beyond the limits above.
   */
  push(chunk: Buffer, onReply: (reply: SmtpReply) => void): void {
    const input = this.#rest + chunk.toString('latin1');
    let start = 0;
    for (;;) {
      const end = input.indexOf('\n', start);
      if (end === -1) break;
      const line = input.slice(start, end > start && input[end - 1] === '\r' ? end - 1 : end);
      start = end + 1;
      const reply = this.#line(line);
      if (reply !== null) onReply(reply);
    }
    this.#rest = input.slice(start);
    if (this.#rest.length > MAX_LINE_OCTETS) throw new SmtpProtocolError('Reply line too long');
  }

  #line(line: string): SmtpReply | null {
    if (line.length > MAX_LINE_OCTETS) throw new SmtpProtocolError('Reply line too long');
    const match = REPLY_LINE.exec(line);
    if (match === null) {
      throw new SmtpProtocolError(`Not an SMTP reply: ${printable(line).slice(0, 80)}`);
    }
    const code = Number(match[1]);
    if (this.#lines.length > 0 && code !== this.#code) {
      throw new SmtpProtocolError(`Reply code changed from ${this.#code} to ${code}`);
    }
    this.#code = code;
    this.#lines.push(match[3] ?? '');
    if (this.#lines.length > MAX_LINES) throw new SmtpProtocolError('Reply has too many lines');
    if (match[2] === '-') return null;
    const lines = this.#lines;
    this.#lines = [];
    return createSmtpReply(code, lines);
  }
}

/** A reply from its lines without reply code, as received (octets as latin1). */
export function createSmtpReply(code: number, lines: readonly string[]): SmtpReply {
  const enhanced = ENHANCED_CODE.exec(lines[0] ?? '')?.[1] ?? null;
  const texts = lines.map((line) =>
    printable(Buffer.from(line.replace(ENHANCED_CODE, ''), 'latin1').toString('utf8')),
  );
  const text = texts
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ')
    .slice(0, MAX_TEXT_CHARACTERS);
  return { code, enhanced, lines: texts, text };
}

/** Replies end up in events, logs and notifications: control characters become a space. */
function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ');
}
