import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/**
 * The client's side of a session, octet by octet, for tests of what a polite client would not say.
 * Waiting ends with an error when the server closes the connection.
 */
export class SmtpDialog {
  /** What the server said since the last `until`, `say` or `replies`. */
  text = '';
  closed = false;
  #wake: () => void = () => undefined;

  constructor(readonly socket: Socket) {
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      this.text += chunk.toString();
      this.#wake();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.closed = true;
      this.#wake();
    });
  }

  /** Everything said up to and including what matches. */
  async until(expected: RegExp): Promise<string> {
    while (!expected.test(this.text)) {
      if (this.closed) throw new Error(`closed after ${JSON.stringify(this.text)}`);
      await this.#change();
    }
    const { text } = this;
    this.text = '';
    return text;
  }

  /** Writes and waits for `count` complete replies. */
  async say(octets: string | Buffer, count = 1): Promise<string> {
    this.socket.write(octets);
    return this.replies(count);
  }

  replies(count: number): Promise<string> {
    return this.until(new RegExp(`(?:^\\d{3}(?: [^\\n]*)?\\n[^]*?){${count}}(?<=\\n)`, 'm'));
  }

  /** Waits until the server closes the connection, and returns its last reply. */
  async end(): Promise<string> {
    while (!this.closed) await this.#change();
    return this.text;
  }

  /** The same session inside TLS, after the server agreed to STARTTLS. */
  secure(): SmtpDialog {
    this.socket.removeAllListeners('data');
    return new SmtpDialog(connectTls({ socket: this.socket, rejectUnauthorized: false }));
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

/**
 * Connects to a port of the loopback interface.
 * @param from another address of it, such as 127.0.0.2, to be another client
 */
export function openSmtpDialog(port: number, from = '127.0.0.1'): SmtpDialog {
  return new SmtpDialog(connect({ port, host: '127.0.0.1', localAddress: from }));
}
