import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { SmtpProtocolError, SmtpReplyParser, type SmtpReply } from './smtp-reply';

/** The connection could not be made, died, fell silent or spoke no SMTP. */
export class SmtpConnectionError extends Error {
  override readonly name = 'SmtpConnectionError';
  constructor(
    readonly kind: 'connect' | 'closed' | 'timeout' | 'protocol' | 'tls',
    message: string,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

export interface SmtpConnectOptions {
  readonly host: string;
  readonly port: number;
  readonly localAddress?: string;
  /** TLS from the first octet. */
  readonly implicitTls?: SmtpTlsOptions;
  readonly timeoutMs: number;
}

export interface SmtpTlsOptions {
  readonly serverName: string;
  readonly verifyCertificate: boolean;
  readonly ca?: string;
}

const BLOCK_OCTETS = 64 * 1024;

interface Waiter {
  resolve(reply: SmtpReply): void;
  reject(error: SmtpConnectionError): void;
  readonly timer: NodeJS.Timeout;
}

/** A socket that takes octets and gives replies, in order. Knows nothing of transactions. */
export class SmtpConnection {
  #socket: Socket;
  #parser = new SmtpReplyParser();
  readonly #replies: SmtpReply[] = [];
  #waiter: Waiter | null = null;
  #failure: SmtpConnectionError | null = null;

  private constructor(
    socket: Socket,
    private secured: boolean,
  ) {
    this.#socket = socket;
    this.#listen(socket);
  }

  /** @throws SmtpConnectionError of kind `connect`, `tls` or `timeout` */
  static open(options: SmtpConnectOptions): Promise<SmtpConnection> {
    const { host, port, localAddress, implicitTls, timeoutMs } = options;
    const target = localAddress === undefined ? { host, port } : { host, port, localAddress };
    return new Promise((resolve, reject) => {
      let kind: 'connect' | 'tls' = 'connect';
      const socket =
        implicitTls === undefined
          ? connectTcp(target)
          : connectTls({ ...tlsOptions(implicitTls), ...target });
      const fail = (error: SmtpConnectionError) => {
        clearTimeout(timer);
        socket.destroy();
        reject(error);
      };
      const timer = setTimeout(
        () => fail(new SmtpConnectionError('timeout', `No connection after ${timeoutMs} ms`)),
        timeoutMs,
      );
      const onError = (error: Error) => fail(new SmtpConnectionError(kind, error.message, error));
      socket.once('error', onError);
      socket.once('connect', () => {
        kind = 'tls';
      });
      socket.once(implicitTls === undefined ? 'connect' : 'secureConnect', () => {
        clearTimeout(timer);
        socket.off('error', onError);
        resolve(new SmtpConnection(socket, implicitTls !== undefined));
      });
    });
  }

  get secure(): boolean {
    return this.secured;
  }

  /** Why nothing more can be sent, or null. */
  get failure(): SmtpConnectionError | null {
    return this.#failure;
  }

  /** True if the server sent something unrequested. */
  get hasUnreadReply(): boolean {
    return this.#replies.length > 0;
  }

  /** @throws SmtpConnectionError when none comes in time or the connection has died */
  readReply(timeoutMs: number): Promise<SmtpReply> {
    const reply = this.#replies.shift();
    if (reply !== undefined) return Promise.resolve(reply);
    if (this.#failure !== null) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#fail(new SmtpConnectionError('timeout', `No reply after ${timeoutMs} ms`));
      }, timeoutMs);
      this.#waiter = { resolve, reject, timer };
    });
  }

  /**
   * Hands octets to the operating system without waiting. `onRefused` is called when it did not take
   * all of them, which proves that the server cannot have them.
   */
  write(octets: string | Buffer, onRefused?: () => void): void {
    if (this.#failure !== null) onRefused?.();
    else this.#socket.write(octets, (error) => error && onRefused?.());
  }

  /**
   * Writes all of `octets` in blocks, each of which has `timeoutMs` to leave. Stops early when the
   * server replies midway: its reply counts, not the rest.
   */
  async writeBlocks(octets: Buffer, timeoutMs: number): Promise<void> {
    for (let start = 0; start < octets.length; start += BLOCK_OCTETS) {
      if (this.hasUnreadReply) return;
      if (this.#failure !== null) throw this.#failure;
      const block = octets.subarray(start, start + BLOCK_OCTETS);
      if (!this.#socket.write(block)) await this.#drained(timeoutMs);
    }
  }

  async command(line: string, timeoutMs: number): Promise<SmtpReply> {
    this.write(`${line}\r\n`);
    return this.readReply(timeoutMs);
  }

  /**
   * Goes on in TLS after the server agreed to STARTTLS.
   * @throws SmtpConnectionError of kind `protocol` when plaintext was sent along with the agreement,
   *   which an attacker in the middle could have injected (RFC 3207 §6)
   */
  upgrade(options: SmtpTlsOptions, timeoutMs: number): Promise<void> {
    if (this.hasUnreadReply || this.#parser.pending) {
      this.#fail(new SmtpConnectionError('protocol', 'Plaintext follows the reply to STARTTLS'));
    }
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const plain = this.#socket;
    plain.removeAllListeners('data');
    return new Promise((resolve, reject) => {
      const secured: TLSSocket = connectTls({ socket: plain, ...tlsOptions(options) });
      const fail = (error: SmtpConnectionError) => {
        clearTimeout(timer);
        this.#fail(error);
        secured.destroy();
        reject(error);
      };
      const timer = setTimeout(
        () => fail(new SmtpConnectionError('timeout', `No TLS session after ${timeoutMs} ms`)),
        timeoutMs,
      );
      const onClose = () => fail(new SmtpConnectionError('tls', 'Closed during the TLS handshake'));
      const onError = (error: Error) => fail(new SmtpConnectionError('tls', error.message, error));
      secured.once('close', onClose);
      secured.once('error', onError);
      secured.once('secureConnect', () => {
        clearTimeout(timer);
        secured.off('close', onClose);
        secured.off('error', onError);
        this.#socket = secured;
        this.#parser = new SmtpReplyParser();
        this.secured = true;
        this.#listen(secured);
        resolve();
      });
    });
  }

  destroy(why = 'Closed by us'): void {
    this.#fail(new SmtpConnectionError('closed', why));
  }

  #listen(socket: Socket): void {
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      try {
        this.#parser.push(chunk, (reply) => this.#deliver(reply));
      } catch (error) {
        if (!(error instanceof SmtpProtocolError)) throw error;
        this.#fail(new SmtpConnectionError('protocol', error.message, error));
      }
    });
    const closed = (error?: Error) => {
      if (socket !== this.#socket) return;
      const why = error?.message ?? 'The server closed the connection';
      this.#fail(new SmtpConnectionError('closed', why, error));
    };
    socket.on('end', () => closed());
    socket.on('close', () => closed());
    socket.on('error', closed);
  }

  #deliver(reply: SmtpReply): void {
    const waiter = this.#waiter;
    if (waiter === null) {
      this.#replies.push(reply);
      return;
    }
    this.#waiter = null;
    clearTimeout(waiter.timer);
    waiter.resolve(reply);
  }

  #fail(error: SmtpConnectionError): void {
    if (this.#failure !== null) return;
    this.#failure = error;
    this.#socket.destroy();
    const waiter = this.#waiter;
    if (waiter === null) return;
    this.#waiter = null;
    clearTimeout(waiter.timer);
    waiter.reject(error);
  }

  #drained(timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = this.#socket;
      const settle = () => {
        clearTimeout(timer);
        socket.off('drain', settle);
        socket.off('close', settle);
        if (this.#failure === null || this.hasUnreadReply) resolve();
        else reject(this.#failure);
      };
      const timer = setTimeout(() => {
        this.#fail(new SmtpConnectionError('timeout', `Content stuck for ${timeoutMs} ms`));
      }, timeoutMs);
      socket.once('drain', settle);
      socket.once('close', settle);
    });
  }
}

function tlsOptions(options: SmtpTlsOptions): ConnectionOptions {
  // RFC 6066 §3: no IP address in SNI. The certificate is checked against `host` then.
  const servername = isIP(options.serverName) === 0 ? { servername: options.serverName } : {};
  const ca = options.ca === undefined ? {} : { ca: options.ca };
  return {
    host: options.serverName,
    ...servername,
    ...ca,
    rejectUnauthorized: options.verifyCertificate,
  };
}
