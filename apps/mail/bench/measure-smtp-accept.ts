import { connect } from 'node:net';

export interface SmtpMessage {
  readonly recipient: string;
  /** As it goes over the wire: CRLF, dots stuffed, with the final dot. */
  readonly content: Buffer;
}

export interface SmtpAcceptLoad {
  readonly host?: string;
  readonly port: number;
  /** Connections, each kept open for all its messages. */
  readonly sessions: number;
  /** Messages of all sessions together. */
  readonly messages: number;
  readonly message: (index: number) => SmtpMessage;
}

export interface SmtpAcceptResult {
  readonly messagesPerSecond: number;
  /** Milliseconds from the final dot to its reply. */
  readonly p50: number;
  readonly p99: number;
  /** Final dots answered with anything but 250. */
  readonly refused: number;
  /** Milliseconds since the epoch. */
  readonly firstAcceptedAt: number;
}

/**
 * Drives a server the way Postfix's `smtp-source -d` does: every session sends MAIL, RCPT, DATA and
 * the content one after the other and waits for each reply. Not counted: connecting and EHLO.
 */
export async function measureSmtpAccept(load: SmtpAcceptLoad): Promise<SmtpAcceptResult> {
  const latencies: number[] = [];
  let sent = 0;
  let refused = 0;
  let firstAcceptedAt = 0;

  const open = (): Promise<() => Promise<void>> =>
    new Promise((ready, failed) => {
      const socket = connect({ host: load.host ?? '127.0.0.1', port: load.port });
      socket.setNoDelay(true);
      const commands = ['MAIL FROM:<bench@source.example>\r\n', '', 'DATA\r\n'];
      let content: Buffer = Buffer.alloc(0);
      let step = -2;
      let dotAt = 0;
      let finished: (() => void) | null = null;
      let aborted: (error: Error) => void = failed;
      const next = () => {
        if (sent === load.messages) {
          socket.end('QUIT\r\n');
          finished?.();
          return;
        }
        const message = load.message(sent);
        sent += 1;
        commands[1] = `RCPT TO:<${message.recipient}>\r\n`;
        content = message.content;
        step = 0;
        socket.write(commands[0]!);
      };
      let unfinished = '';
      socket.on('data', (chunk: Buffer) => {
        unfinished += chunk.toString('latin1');
        const lastLine = unfinished.lastIndexOf('\n', unfinished.length - 2) + 1;
        if (!unfinished.endsWith('\n') || unfinished[lastLine + 3] === '-') return;
        const positive = unfinished[lastLine] === '2' || unfinished[lastLine] === '3';
        const said = unfinished;
        unfinished = '';
        if (!positive && step < 3) return aborted(new Error(`The server said ${said}`));
        switch (step) {
          case -2:
            step = -1;
            socket.write('EHLO source.example\r\n');
            return;
          case -1:
            ready(() => {
              return new Promise((resolve, reject) => {
                finished = resolve;
                aborted = reject;
                next();
              });
            });
            return;
          case 2:
            step = 3;
            dotAt = performance.now();
            socket.write(content);
            return;
          case 3:
            latencies.push(performance.now() - dotAt);
            if (!positive) refused += 1;
            else if (firstAcceptedAt === 0) firstAcceptedAt = Date.now();
            next();
            return;
          default:
            step += 1;
            socket.write(commands[step]!);
        }
      });
      socket.on('error', (error) => aborted(error));
    });

  const sessions = await Promise.all(Array.from({ length: load.sessions }, open));
  const start = performance.now();
  await Promise.all(sessions.map((run) => run()));
  const seconds = (performance.now() - start) / 1000;
  latencies.sort((a, b) => a - b);
  return {
    messagesPerSecond: latencies.length / seconds,
    p50: latencies[Math.floor(latencies.length * 0.5)] ?? 0,
    p99: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
    refused,
    firstAcceptedAt,
  };
}

/** Messages of `bytes` octets that differ in Message-ID, subject and sender. */
export function generatedMessages(
  bytes: number,
  recipient: string,
): (index: number) => SmtpMessage {
  const run = Date.now().toString(36);
  const line = `${'x'.repeat(78)}\r\n`;
  const body = `${line.repeat(Math.max(1, Math.ceil((bytes - 200) / line.length)))}.\r\n`;
  return (index) => ({
    recipient,
    content: Buffer.from(
      `From: <sender-${index % 1000}@source.example>\r\nTo: <${recipient}>\r\nSubject: Bench ${index}\r\n` +
        `Date: Mon, 06 Oct 2025 10:00:00 +0000\r\nMessage-ID: <${run}.${index}@source.example>\r\n\r\n${body}`,
      'latin1',
    ),
  });
}

/** A message with any line ends, as DATA carries it (RFC 5321 §4.5.2). */
export function dataOf(raw: Buffer): Buffer {
  const text = raw
    .toString('latin1')
    .replace(/\r\n|\r|\n/g, '\r\n')
    .replace(/^\./gm, '..');
  return Buffer.from(`${text}${text.endsWith('\r\n') ? '' : '\r\n'}.\r\n`, 'latin1');
}
