import type { Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js';
import { ContentParser } from './content-parser';

const STARTS_WITH_ENHANCED_CODE = /^[245]\.\d{1,3}\.\d{1,3} /;

/**
 * One session. Differs from the library's in three points: a reply text that brings its own enhanced
 * status code gets no second one, the wait of 100 ms before the greeting can be left out, and the
 * content is read by `DotUnstuffer`.
 */
class ListenerConnection extends SMTPConnection {
  /** Content is arriving or its reply is due: not to be cut off when the listener stops. */
  transferring = false;
  #ready = false;

  constructor(
    private readonly listener: ListenerServer,
    socket: Socket,
  ) {
    super(listener, socket);
  }

  override init(): void {
    super.init();
    if (this.listener.greetsAtOnce(this.remoteAddress)) this.connectionReady();
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

  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    const own = typeof data === 'string' && STARTS_WITH_ENHANCED_CODE.test(data);
    super.send(code, data, own ? false : context);
  }
}

/** The library's server with our kind of connection, each of which can be found by its session. */
export class ListenerServer extends SMTPServer {
  readonly #bySession = new WeakMap<SMTPServerSession, ListenerConnection>();
  readonly #sockets = new Set<Socket>();

  constructor(
    options: SMTPServerOptions,
    /**
     * The wait exposes clients that talk before they are greeted. It costs an honest client 100 ms
     * per connection and means nothing where the peer is known.
     */
    readonly greetsAtOnce: (clientAddress: string) => boolean,
  ) {
    super(options);
  }

  override connect(socket: Socket): void {
    const connection = new ListenerConnection(this, socket);
    this.#bySession.set(connection.session, connection);
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    this.connections.add(connection);
    connection.on('error', (error) => this.emit('error', error));
    connection.init();
  }

  connectionOf(session: SMTPServerSession): ListenerConnection | undefined {
    return this.#bySession.get(session);
  }

  /** Says goodbye to every session that is not in the middle of content. */
  dismissIdle(text: string): void {
    for (const connection of [...this.connections]) {
      if (connection instanceof ListenerConnection && !connection.transferring) {
        connection.send(421, text);
      }
    }
  }

  destroySockets(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
