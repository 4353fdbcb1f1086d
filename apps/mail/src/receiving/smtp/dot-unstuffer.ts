const CR = 0x0d;
const LF = 0x0a;
const CRLF = Buffer.from('\r\n');
const DOT_LINE = Buffer.from('\r\n.');
const NOTHING: Buffer = Buffer.alloc(0);

export interface Unstuffed {
  /** Content without the dots added for transport. */
  readonly content: Buffer;
  /** What follows the end of data; null while it has not been read. */
  readonly rest: Buffer | null;
}

/**
 * Finds the end of data and takes the stuffed dots out, chunk by chunk (RFC 5321 §4.5.2). A line
 * begins after CRLF alone, and only CRLF.CRLF ends the data: bare CR and LF are content (§2.3.8).
 * One per message. The cost depends on the octets, not on how many lines begin with a dot.
 */
export class DotUnstuffer {
  /** Octets that may turn out to be part of the end. The first line begins as if after CRLF. */
  #held: Buffer = CRLF;
  /** Octets of `#held` that are no content. */
  #pretended = CRLF.length;

  push(chunk: Buffer): Unstuffed {
    const input = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    let output: Buffer | null = null;
    let written = 0;
    let from = this.#pretended;
    let dotLine = input.indexOf(DOT_LINE);

    while (dotLine !== -1) {
      const next = dotLine + DOT_LINE.length;
      const undecided = next === input.length || (input[next] === CR && next + 1 === input.length);
      if (undecided) break;
      const isEnd = input[next] === CR && input[next + 1] === LF;
      const upTo = dotLine + CRLF.length;
      if (isEnd && output === null) {
        return { content: input.subarray(from, upTo), rest: input.subarray(next + 2) };
      }
      output ??= Buffer.allocUnsafe(input.length);
      written += input.copy(output, written, from, upTo);
      if (isEnd) return { content: output.subarray(0, written), rest: input.subarray(next + 2) };
      from = next;
      dotLine = input.indexOf(DOT_LINE, next);
    }

    const holdFrom = dotLine === -1 ? startOfCrLf(input) : dotLine;
    // Held from the very front, the pretended line break is still in front of it.
    this.#pretended = holdFrom === 0 ? this.#pretended : 0;
    this.#held = holdFrom === input.length ? NOTHING : input.subarray(holdFrom);
    if (output === null) {
      return { content: from < holdFrom ? input.subarray(from, holdFrom) : NOTHING, rest: null };
    }
    if (from < holdFrom) written += input.copy(output, written, from, holdFrom);
    return { content: output.subarray(0, written), rest: null };
  }
}

/** Where a CR or CRLF at the very end begins. */
function startOfCrLf(input: Buffer): number {
  const { length } = input;
  if (input[length - 1] === CR) return length - 1;
  return input[length - 1] === LF && input[length - 2] === CR ? length - 2 : length;
}
