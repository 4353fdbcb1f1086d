import type { Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js';
import { ContentParser } from './content-parser';
import type { SessionAdmission } from './session-admission';
import { isOverdue, type PatienceLimits } from './session-patience';
import { refusals, type SmtpRefusal } from './smtp-replies';

/** Milliseconds for the reply to reach a client that is turned away; its socket goes then. */
const TURN_AWAY_MS = 1000;
/** Sockets that may wait for that at the same time; further ones are closed without a word. */
const MAX_TURNED_AWAY = 2_000;

const STARTS_WITH_ENHANCED_CODE = /^[245]\.\d{1,3}\.\d{1,3} /;

/**
 * One session. Differs from the library's in four points: a reply text that brings its own enhanced
 * status code gets no second one, the wait of 100 ms before the greeting can be left out, the
 * content is read by `DotUnstuffer`, and it remembers when its client last got a step further.
 */
class ListenerConnection extends SMTPConnection {
  /** Content is arriving or its reply is due: not to be cut off when the listener stops. */
  transferring = false;
  #ready = false;
  #hasBegun = false;
  #progressAt = performance.now();

  constructor(
    private readonly listener: ListenerServer,
    socket: Socket,
  ) {
    super(listener, socket);
  }

  /** The client got a step further: see `SessionProgress`. */
  noteProgress(): void {
    this.#hasBegun = true;
    this.#progressAt = performance.now();
  }

  /** Whether the client, and not we, has let its time pass. */
  isOverdue(limits: PatienceLimits, isCrowded: boolean): boolean {
    const parser = this._parser;
    const isReceiving = this.transferring && parser !== false && parser._dataMode;
    if (this._closing || (!isReceiving && (this.transferring || this._handlerPending)))
      return false;
    return isOverdue(
      {
        hasBegun: this.#hasBegun,
        contentBytes: isReceiving ? parser.dataBytes : null,
        sinceProgress: performance.now() - this.#progressAt,
      },
      limits,
      isCrowded,
    );
  }

  override init(): void {
    super.init();
    if (this.listener.own.greetsAtOnce(this.remoteAddress)) this.connectionReady();
  }

  override _createParser(): ContentParser {
    const parser = new ContentParser();
    parser.oncommand = (command, done) => this._onCommand(command, done);
    parser.on('error', (error) => this.send(421, `Error: ${error.message}`));
    return parser;
  }

  /** Called by us and once more by the library's timer. */
  override connectionReady(next?: () => void): void {
    if (this.#ready || this._closing) return;
    this.#ready = true;
    super.connectionReady(next);
  }

  override close(): void {
    super.close();
    this.listener.left(this);
  }

  /** Also when the client just went away. */
  override _onClose(): void {
    super._onClose();
    this.listener.left(this);
  }

  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    const own = typeof data === 'string' && STARTS_WITH_ENHANCED_CODE.test(data);
    super.send(code, data, own ? false : context);
  }
}

export interface ListenerServerOptions {
  /**
   * The wait exposes clients that talk before they are greeted. It costs an honest client 100 ms
   * per connection and means nothing where the peer is known.
   */
  readonly greetsAtOnce: (clientAddress: string) => boolean;
  readonly admission: SessionAdmission;
  readonly patience: PatienceLimits;
  readonly onRefused: (refusal: SmtpRefusal) => void;
}

/** The library's server with our kind of connection, each of which can be found by its session. */
export class ListenerServer extends SMTPServer {
  readonly #bySession = new WeakMap<SMTPServerSession, ListenerConnection>();
  readonly #counted = new Map<ListenerConnection, string>();
  readonly #sockets = new Set<Socket>();
  readonly #clock: NodeJS.Timeout;
  #turnedAway = 0;

  constructor(
    options: SMTPServerOptions,
    readonly own: ListenerServerOptions,
  ) {
    super(options);
    const { beforeMailMs, idleTimeoutMs } = own.patience;
    const roundMs = Math.max(10, Math.min(1000, beforeMailMs / 4, idleTimeoutMs / 4));
    this.#clock = setInterval(() => this.#dismissOverdue(), roundMs);
    this.#clock.unref();
  }

  override connect(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const refusal = this.own.admission.enter(address);
    if (refusal !== null) {
      this.own.onRefused(refusal);
      this.#turnAway(socket, refusal);
      return;
    }
    const connection = new ListenerConnection(this, socket);
    this.#counted.set(connection, address);
    this.#bySession.set(connection.session, connection);
    this.#sockets.add(socket);
    this.connections.add(connection);
    connection.on('error', (error) => this.emit('error', error));
    connection.init();
  }

  connectionOf(session: SMTPServerSession): ListenerConnection | undefined {
    return this.#bySession.get(session);
  }

  /** The session does not count any longer, though its socket may have to be closed by the client yet. */
  left(connection: ListenerConnection): void {
    const address = this.#counted.get(connection);
    if (address === undefined) return;
    this.#counted.delete(connection);
    this.own.admission.leave(address);
  }

  /** Says goodbye to every session that is not in the middle of content. */
  dismissIdle(text: string): void {
    clearInterval(this.#clock);
    for (const connection of [...this.connections]) {
      if (connection instanceof ListenerConnection && !connection.transferring) {
        connection.send(421, text);
      }
    }
  }

  destroySockets(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  #dismissOverdue(): void {
    // STARTTLS takes the listeners off a socket: the end of one is not always heard.
    for (const socket of this.#sockets) if (socket.destroyed) this.#sockets.delete(socket);
    for (const connection of this.#counted.keys()) {
      const { admission, patience } = this.own;
      if (!connection.isOverdue(patience, admission.isCrowded)) continue;
      const refusal = refusals.timeout();
      this.own.onRefused(refusal);
      connection.send(refusal.responseCode, refusal.message);
      connection.close();
    }
  }

  #turnAway(socket: Socket, refusal: SmtpRefusal): void {
    socket.on('error', () => undefined);
    if (this.#turnedAway >= MAX_TURNED_AWAY) {
      socket.destroy();
      return;
    }
    this.#turnedAway += 1;
    this.#sockets.add(socket);
    const timer = setTimeout(() => socket.destroy(), TURN_AWAY_MS);
    socket.once('close', () => {
      clearTimeout(timer);
      this.#turnedAway -= 1;
      this.#sockets.delete(socket);
    });
    socket.end(`${refusal.responseCode} ${refusal.message}\r\n`);
    socket.resume();
  }
}
