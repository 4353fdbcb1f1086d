import type { AddressInfo } from 'node:net';
import { uuidv7 } from '@dak/kernel';
import type {
  SMTPServerAddress,
  SMTPServerDataStream,
  SMTPServerEnvelope,
  SMTPServerSession,
} from 'smtp-server';
import { ContentGathering, type ContentBudget } from './content-gathering';
import { countReceivedFields } from './count-received-fields';
import { watchEventLoopLag } from './event-loop-lag';
import type {
  AcceptOutcome,
  DeliveryRecipient,
  SmtpDelivery,
  SmtpHandlers,
  TransmissionType,
} from './smtp-delivery';
import { refusalOfVerdict, refusals, replyToOutcome, replyToOutcomes } from './smtp-replies';
import { ListenerServer } from './smtp-server-connection';
import { formatTraceHeader } from './trace-header';

export interface SmtpLimits {
  /** Octets of one message, offered as SIZE. */
  readonly maxMessageBytes: number;
  /** Recipients of one message. RFC 5321 §4.5.3.1.8 wants at least 100. */
  readonly maxRecipients: number;
  readonly maxSessions: number;
  /** Octets of all messages being received or made durable at the same time. */
  readonly maxInFlightBytes: number;
  /** `Received` fields from which a message counts as looping. RFC 5321 §6.3 wants room for 100. */
  readonly maxReceivedFields: number;
  /** Milliseconds a client may be silent. RFC 5321 §4.5.3.2.7 wants at least five minutes. */
  readonly idleTimeoutMs: number;
  /** Event loop lag in milliseconds from which new sessions and messages are put off. */
  readonly maxLagMs: number;
  /** Milliseconds that running transactions have when the listener stops. */
  readonly stopGraceMs: number;
}

export const DEFAULT_SMTP_LIMITS: SmtpLimits = {
  maxMessageBytes: 35 * 1024 * 1024,
  maxRecipients: 100,
  maxSessions: 1000,
  maxInFlightBytes: 256 * 1024 * 1024,
  maxReceivedFields: 30,
  idleTimeoutMs: 300_000,
  maxLagMs: 1000,
  stopGraceMs: 10_000,
};

export interface SmtpListenerOptions {
  readonly protocol: 'smtp' | 'lmtp';
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Our name in the greeting and in `Received`. */
  readonly hostName: string;
  readonly limits?: Partial<SmtpLimits>;
  readonly handlers: SmtpHandlers;
  /**
   * Takes one token of the bucket `connect:<ip>` or `mail:<ip>`; false when there is none left.
   * A rejected promise lets the client pass: a lost counter must not stop mail.
   */
  readonly consume?: (key: string) => Promise<boolean>;
  /** PEM; offers STARTTLS when given. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Peers greeted without the early-talker wait; by default the loopback, for LMTP everybody. */
  readonly greetsAtOnce?: (clientAddress: string) => boolean;
  readonly log: SmtpListenerLog;
}

export interface SmtpListenerLog {
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}

export interface SmtpListener {
  readonly port: number;
  readonly sessions: number;
  /** Octets of messages being received or made durable. */
  readonly inFlightBytes: number;
  /** Takes no more sessions, lets running transactions finish, then closes. Never rejects. */
  stop(): Promise<void>;
}

/** Commands of old that answer to anybody, and those that only make sense behind a proxy. */
const DISABLED_COMMANDS = ['AUTH', 'HELP', 'WIZ', 'SHELL', 'KILL', 'XCLIENT', 'XFORWARD'];

/** A client that goes on this far past the limit does not want to hear the reply to its dot. */
const OVERRUN_FACTOR = 2;

/** Milliseconds for the last replies to leave before sockets are cut. */
const LINGER_MS = 200;

/** Recipients of the transaction that an envelope belongs to. */
interface Transaction {
  readonly recipients: DeliveryRecipient[];
  /** For each RCPT answered with 250, the index of its recipient: LMTP answers each of them. */
  readonly replies: number[];
}

/**
 * Starts an SMTP or LMTP server. 250 to the final dot is written only after `handlers.accept` has
 * resolved.
 * @throws the error of `listen` when the address is taken or not ours
 */
export async function createSmtpListener(options: SmtpListenerOptions): Promise<SmtpListener> {
  const { protocol, handlers, consume, log } = options;
  const limits = { ...DEFAULT_SMTP_LIMITS, ...options.limits };
  const lmtp = protocol === 'lmtp';
  const budget: ContentBudget = { limit: limits.maxInFlightBytes, used: 0 };
  const lag = watchEventLoopLag();
  const transactions = new WeakMap<SMTPServerEnvelope, Transaction>();
  let stopping = false;
  let transfers = 0;
  let onDrained: (() => void) | null = null;

  const overloaded = () => lag.milliseconds() > limits.maxLagMs;

  const permitted = async (key: string): Promise<boolean> => {
    if (consume === undefined) return true;
    try {
      return await consume(key);
    } catch (error) {
      log.warn({ error, key }, 'rate limit not available');
      return true;
    }
  };

  const onConnect = (session: SMTPServerSession, done: (error?: Error) => void) => {
    if (stopping) return done(refusals.stopping());
    if (overloaded()) return done(refusals.overloaded());
    if (consume === undefined) return done();
    void permitted(`connect:${session.remoteAddress}`).then((ok) =>
      done(ok ? undefined : refusals.tooManyConnections()),
    );
  };

  const onMailFrom = (
    address: SMTPServerAddress,
    session: SMTPServerSession,
    done: (error?: Error) => void,
  ) => {
    if (overloaded()) return done(refusals.overloaded());
    const declared = address.args === false ? 0 : Number(address.args['SIZE'] ?? 0);
    if (budget.used + declared > budget.limit) return done(refusals.outOfMemory());
    if (consume === undefined) return done();
    void permitted(`mail:${session.remoteAddress}`).then((ok) =>
      done(ok ? undefined : refusals.tooManyMessages()),
    );
  };

  const onRcptTo = (
    { address }: SMTPServerAddress,
    session: SMTPServerSession,
    done: (error?: Error) => void,
  ) => {
    const { envelope } = session;
    handlers.resolveRecipient(address).then(
      (verdict) => {
        if (verdict.kind !== 'deliver') return done(refusalOfVerdict(verdict) ?? undefined);
        let transaction = transactions.get(envelope);
        if (transaction === undefined) {
          transaction = { recipients: [], replies: [] };
          transactions.set(envelope, transaction);
        }
        const key = address.toLowerCase();
        let index = transaction.recipients.findIndex(
          (known) => known.address.toLowerCase() === key,
        );
        if (index === -1) {
          index = transaction.recipients.push({ address, target: verdict.target }) - 1;
        }
        transaction.replies.push(index);
        done();
      },
      (error: unknown) => {
        log.error({ error }, 'recipient not resolved');
        done(refusals.failed());
      },
    );
  };

  const endTransfer = (session: SMTPServerSession) => {
    const connection = server.connectionOf(session);
    if (connection !== undefined) {
      connection.transferring = false;
      if (stopping) connection.send(421, refusals.stopping().message);
    }
    transfers -= 1;
    if (transfers === 0) onDrained?.();
  };

  const onData = (
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
    done: (error?: Error | null, replies?: string | (string | Error)[]) => void,
  ) => {
    const connection = server.connectionOf(session);
    const transaction = transactions.get(session.envelope) ?? { recipients: [], replies: [] };
    const gathering = new ContentGathering(limits.maxMessageBytes, budget);
    if (connection !== undefined) connection.transferring = true;
    transfers += 1;
    let settled = false;

    const settle = (error: Error | null, reply?: string | (string | Error)[]) => {
      if (settled) return;
      settled = true;
      gathering.release();
      done(error, reply);
      endTransfer(session);
    };
    stream.on('data', (chunk: Buffer) => {
      gathering.add(chunk);
      if (gathering.total > limits.maxMessageBytes * OVERRUN_FACTOR && !settled) {
        connection?.send(421, refusals.tooLarge(limits.maxMessageBytes).message);
      }
    });
    // The client went away: nobody is left to answer.
    const abandon = () => {
      if (settled || stream.readableEnded) return;
      settled = true;
      gathering.release();
      endTransfer(session);
    };
    stream.on('error', abandon);
    stream.on('close', abandon);
    stream.on('end', () => {
      if (gathering.tooLarge) return settle(refusals.tooLarge(limits.maxMessageBytes));
      if (gathering.overBudget) return settle(refusals.outOfMemory());
      if (countReceivedFields(gathering.content) > limits.maxReceivedFields) {
        return settle(refusals.loop());
      }
      const delivery = toDelivery(options.hostName, session, transaction, gathering, lmtp);
      const answer = (outcomes: readonly AcceptOutcome[]) => {
        if (lmtp) {
          settle(
            null,
            transaction.replies.map((index) =>
              replyToOutcome(outcomes[index] ?? { kind: 'deferred' }, delivery.queueId),
            ),
          );
          return;
        }
        const reply = replyToOutcomes(outcomes, delivery.queueId);
        if (typeof reply === 'string') settle(null, reply);
        else settle(reply);
      };
      handlers.accept(delivery).then(answer, (error: unknown) => {
        log.error({ error, queueId: delivery.queueId }, 'message not accepted');
        answer(delivery.recipients.map(() => ({ kind: 'deferred' })));
      });
    });
  };

  const server = new ListenerServer(
    {
      name: options.hostName,
      banner: 'Dak',
      heloResponse: '%s',
      lmtp,
      logger: false,
      disableReverseLookup: true,
      disabledCommands:
        options.tls === undefined ? [...DISABLED_COMMANDS, 'STARTTLS'] : DISABLED_COMMANDS,
      hideENHANCEDSTATUSCODES: false,
      size: limits.maxMessageBytes,
      maxClients: limits.maxSessions,
      maxRecipients: limits.maxRecipients,
      socketTimeout: limits.idleTimeoutMs,
      closeTimeout: limits.stopGraceMs,
      ...options.tls,
      onConnect,
      onMailFrom,
      onRcptTo,
      onData,
    },
    options.greetsAtOnce ?? (lmtp ? () => true : isLoopback),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  server.on('error', (error: Error) => log.warn({ error }, 'SMTP session failed'));
  const { port } = server.server.address() as AddressInfo;

  return {
    port,
    get sessions() {
      return server.connections.size;
    },
    get inFlightBytes() {
      return budget.used;
    },
    async stop() {
      if (stopping) return;
      stopping = true;
      lag.stop();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.dismissIdle(refusals.stopping().message);
      if (transfers > 0) {
        await Promise.race([
          new Promise<void>((resolve) => {
            onDrained = resolve;
          }),
          closed,
        ]);
      }
      const linger = setTimeout(() => server.destroySockets(), LINGER_MS);
      await closed;
      clearTimeout(linger);
      server.destroySockets();
    },
  };
}

function toDelivery(
  hostName: string,
  session: SMTPServerSession,
  { recipients }: Transaction,
  gathering: ContentGathering,
  lmtp: boolean,
): SmtpDelivery {
  const { envelope, tlsOptions } = session;
  const facts = {
    queueId: uuidv7(),
    recipients,
    clientAddress: session.remoteAddress,
    helo: session.hostNameAppearsAs,
    protocol: transmissionType(session, lmtp),
    tls: tlsOptions === false ? null : { cipher: tlsOptions.name, version: tlsOptions.version },
    receivedAt: new Date(),
  };
  const trace = Buffer.from(formatTraceHeader({ ...facts, hostName }));
  return {
    ...facts,
    mailFrom: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
    raw: gathering.toBuffer(trace),
  };
}

function transmissionType(session: SMTPServerSession, lmtp: boolean): TransmissionType {
  // RFC 3848 has no name for TLS without EHLO.
  if (!lmtp && session.openingCommand === 'HELO') return 'SMTP';
  const utf8 = session.envelope.smtpUtf8 === true;
  if (lmtp) {
    if (session.secure) return utf8 ? 'UTF8LMTPS' : 'LMTPS';
    return utf8 ? 'UTF8LMTP' : 'LMTP';
  }
  if (session.secure) return utf8 ? 'UTF8SMTPS' : 'ESMTPS';
  return utf8 ? 'UTF8SMTP' : 'ESMTP';
}

function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}
