/** Where in a session the sink asks its script what to do. */
export type SinkPhase =
  /** before the greeting */
  | 'connect'
  /** EHLO, HELO or LHLO */
  | 'ehlo'
  | 'starttls'
  /** the AUTH command and each continuation line of it */
  | 'auth'
  | 'mail'
  | 'rcpt'
  /** the DATA command, before 354 */
  | 'data'
  /** content arrives; asked once per chunk, `bytes` counts up */
  | 'body'
  /** the final dot has been read, no reply has been written (LMTP: asked per recipient) */
  | 'final_dot'
  /** the reply to the final dot has been written */
  | 'replied'
  | 'rset'
  | 'noop'
  | 'quit';

/** What the script sees. */
export interface SinkEvent {
  readonly phase: SinkPhase;
  /** 0 for the first connection since the start or the last `clear()`. */
  readonly connection: number;
  /** 0 for the first transaction of the connection. */
  readonly transaction: number;
  /** The command line without its verb; empty for phases that are no command. */
  readonly argument: string;
  /** Octets of content read so far in this transaction. */
  readonly bytes: number;
  /** The forward path of RCPT, and of an LMTP reply to the final dot. */
  readonly recipient: string | null;
  readonly tls: boolean;
}

export type SinkAction =
  /** Line feeds in `text` make a multi-line reply. */
  | { readonly kind: 'reply'; readonly code: number; readonly text: string }
  /** Written as it is, for replies no server should give. */
  | { readonly kind: 'write'; readonly bytes: string | Buffer }
  /** The connection is reset without a reply. */
  | { readonly kind: 'drop' }
  /** No reply to this nor to anything later; the connection stays open. */
  | { readonly kind: 'silence' }
  /** Waits, then does `next`, by default what an unscripted sink does. */
  | { readonly kind: 'delay'; readonly milliseconds: number; readonly next?: SinkAction }
  /** Replies, then closes the connection. */
  | { readonly kind: 'reply_and_close'; readonly code: number; readonly text: string };

/** Returns nothing for the behavior of an unscripted sink. */
export type SinkScript = (event: SinkEvent) => SinkAction | undefined;

export const reply = (code: number, text: string): SinkAction => ({ kind: 'reply', code, text });
export const replyAndClose = (code: number, text: string): SinkAction => ({
  kind: 'reply_and_close',
  code,
  text,
});
export const write = (bytes: string | Buffer): SinkAction => ({ kind: 'write', bytes });
export const drop = (): SinkAction => ({ kind: 'drop' });
export const silence = (): SinkAction => ({ kind: 'silence' });
export const delay = (milliseconds: number, next?: SinkAction): SinkAction =>
  next === undefined ? { kind: 'delay', milliseconds } : { kind: 'delay', milliseconds, next };
/** The hint many servers give on a rate limit. */
export const tryAgainIn = (seconds: number): SinkAction =>
  reply(450, `4.7.1 Too many messages, try again in ${seconds} seconds`);

/** One reply on the wire (RFC 5321 §4.2.1). */
export function formatReply(code: number, text: string): string {
  const lines = text.split('\n');
  return lines
    .map((line, index) => `${code}${index < lines.length - 1 ? '-' : ' '}${line}\r\n`)
    .join('');
}
