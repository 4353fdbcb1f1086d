import { connect } from 'node:net';

export interface SmtpAcceptLoad {
  readonly host?: string;
  readonly port: number;
  /** Connections, each kept open for all its messages. */
  readonly sessions: number;
  /** Messages of all sessions together. */
  readonly messages: number;
  /** Octets of one message, header section included. */
  readonly bytes: number;
  /** Recipient of every message. */
  readonly recipient: string;
}

export interface SmtpAcceptResult {
  readonly messagesPerSecond: number;
  /** Milliseconds from the final dot to its reply. */
  readonly p50: number;
  readonly p99: number;
  /** Final dots answered with anything but 250. */
  readonly refused: number;
}

/**
 * Drives a server the way Postfix's `smtp-source -d` does: every session sends MAIL, RCPT, DATA and
 * the content one after the other and waits for each reply. Not counted: connecting and EHLO.
 */
export async function measureSmtpAccept(load: SmtpAcceptLoad): Promise<SmtpAcceptResult> {
  const content = messageOf(load.bytes);
  const latencies: number[] = [];
  let left = load.messages;
  let refused = 0;

  const open = (): Promise<() => Promise<void>> =>
    new Promise((ready, failed) => {
      const socket = connect({ host: load.host ?? '127.0.0.1', port: load.port });
      socket.setNoDelay(true);
      const commands = [
        'MAIL FROM:<bench@source.example>\r\n',
        `RCPT TO:<${load.recipient}>\r\n`,
        'DATA\r\n',
      ];
      let step = -2;
      let dotAt = 0;
      let finished: (() => void) | null = null;
      let aborted: (error: Error) => void = failed;
      const next = () => {
        if (left === 0) {
          socket.end('QUIT\r\n');
          finished?.();
          return;
        }
        left -= 1;
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
  };
}

function messageOf(bytes: number): Buffer {
  const header =
    'From: <bench@source.example>\r\nTo: <inbox@sink.example>\r\nSubject: Bench\r\n' +
    'Date: Mon, 06 Oct 2025 10:00:00 +0000\r\nMessage-ID: <bench@source.example>\r\n\r\n';
  const line = `${'x'.repeat(78)}\r\n`;
  const lines = Math.max(1, Math.ceil((bytes - header.length) / line.length));
  return Buffer.from(`${header}${line.repeat(lines)}.\r\n`);
}
