import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { serveDiscard } from './discard-session';
import { createSelfSignedCertificate, type PemPair } from '@dak/platform/tls-files';
import type { SinkAction, SinkEvent, SinkPhase, SinkScript } from './sink-script';
import { SinkSession, type SinkExtensions, type SinkMessage } from './sink-session';

export interface SmtpSinkOptions {
  readonly protocol?: 'smtp' | 'lmtp';
  /** 0, the default, takes any free port of the loopback interface. */
  readonly port?: number;
  /** What differs from `DEFAULT_EXTENSIONS`. */
  readonly extensions?: Partial<SinkExtensions>;
  readonly script?: SinkScript;
  /** When given, AUTH accepts only these; `secret` is the password or the access token. */
  readonly credentials?: { readonly user: string; readonly secret: string };
  /** TLS from the first octet instead of STARTTLS. */
  readonly implicitTls?: boolean;
  /** Counts messages and keeps nothing: for load. Scripts and extensions have no effect. */
  readonly discard?: boolean;
}

export const DEFAULT_EXTENSIONS: SinkExtensions = {
  pipelining: true,
  size: 50 * 1024 * 1024,
  eightBitMime: true,
  smtpUtf8: true,
  startTls: false,
  auth: [],
  enhancedStatusCodes: true,
  ehlo: true,
};

export interface SmtpSink {
  readonly host: '127.0.0.1';
  readonly port: number;
  /** Self-signed for `localhost` and `127.0.0.1`, made when TLS is first asked for. */
  readonly certificate: PemPair;
  /** Every message whose final dot was read and not refused, acknowledged or not, in order. */
  readonly messages: readonly SinkMessage[];
  /** Messages taken so far, also with `discard`. */
  readonly accepted: number;
  /** Connections taken so far. */
  readonly connections: number;
  /** Phases seen, in order, for tests about what a client did; empty with `discard`. */
  readonly events: readonly SinkEvent[];
  /** Overrules the script the next `times` times this phase is reached; first in, first out. */
  onNext(phase: SinkPhase, action: SinkAction, times?: number): void;
  setScript(script: SinkScript | undefined): void;
  /** Resolves with the messages once there are `count` of them; rejects after `timeoutMs`. */
  waitForMessages(count: number, timeoutMs?: number): Promise<readonly SinkMessage[]>;
  /** Forgets messages, events, pending overrules and counters; keeps connections and the script. */
  clear(): void;
  /** Cuts every open connection and keeps listening. */
  dropConnections(): void;
  /** Cuts every connection and frees the port. */
  stop(): Promise<void>;
}

/** Starts a sink on the loopback interface. */
export async function startSmtpSink(options: SmtpSinkOptions = {}): Promise<SmtpSink> {
  const protocol = options.protocol ?? 'smtp';
  const extensions = { ...DEFAULT_EXTENSIONS, ...options.extensions };
  const sockets = new Set<Socket>();
  const overrules = new Map<SinkPhase, SinkAction[]>();
  const waiters = new Set<() => void>();
  let script = options.script;
  let messages: SinkMessage[] = [];
  let events: SinkEvent[] = [];
  let accepted = 0;
  let connections = 0;
  let madeCertificate: PemPair | null = null;
  const certificate = () => (madeCertificate ??= createSelfSignedCertificate());

  const owner = {
    protocol,
    extensions,
    get certificate() {
      return certificate();
    },
    credentials: options.credentials ?? null,
    decide(event: SinkEvent): SinkAction | undefined {
      events.push(event);
      return overrules.get(event.phase)?.shift() ?? script?.(event);
    },
    take(message: SinkMessage): void {
      accepted += 1;
      messages.push(message);
      for (const wake of waiters) wake();
    },
  };

  const serve = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    const connection = connections;
    connections += 1;
    if (options.discard === true) {
      serveDiscard(socket, protocol === 'lmtp', () => {
        accepted += 1;
      });
      return;
    }
    const session = new SinkSession(owner, connection, socket, options.implicitTls === true);
    session.run().catch(() => socket.destroy());
  };
  const server: Server =
    options.implicitTls === true ? createTlsServer(certificate(), serve) : createServer(serve);
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;

  const dropConnections = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    host: '127.0.0.1',
    port,
    get certificate() {
      return certificate();
    },
    get messages() {
      return messages;
    },
    get accepted() {
      return accepted;
    },
    get connections() {
      return connections;
    },
    get events() {
      return events;
    },
    onNext(phase, action, times = 1) {
      const queue = overrules.get(phase) ?? [];
      for (let count = 0; count < times; count += 1) queue.push(action);
      overrules.set(phase, queue);
    },
    setScript(next) {
      script = next;
    },
    waitForMessages(count, timeoutMs = 5_000) {
      return new Promise((resolve, reject) => {
        const check = () => {
          if (messages.length < count) return;
          clearTimeout(timer);
          waiters.delete(check);
          resolve(messages);
        };
        const timer = setTimeout(() => {
          waiters.delete(check);
          reject(new Error(`${messages.length} of ${count} messages after ${timeoutMs} ms`));
        }, timeoutMs);
        waiters.add(check);
        check();
      });
    },
    clear() {
      messages = [];
      events = [];
      accepted = 0;
      connections = 0;
      overrules.clear();
    },
    dropConnections,
    stop() {
      dropConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
