import type { AddressInfo } from 'node:net';
import type {
  SMTPServerAddress,
  SMTPServerDataStream,
  SMTPServerEnvelope,
  SMTPServerSession,
} from 'smtp-server';
import { asStorageFailure, StorageUnavailableError } from '@dak/kernel';
import { failureReport } from '@dak/platform/logging';
import type { PemPair } from '@dak/platform/tls-files';
import { clientNetwork } from '@dak/platform/client-network';
import { ContentGathering, type ContentBudget } from './content-gathering';
import { countReceivedFields } from './count-received-fields';
import { watchEventLoopLag } from './event-loop-lag';
import { SessionAdmission } from './session-admission';
import type { AcceptOutcome, DeliveryRecipient } from './smtp-delivery';
import { DEFAULT_SMTP_LIMITS, type SmtpListenerOptions } from './smtp-listener-options';
import {
  refusalOfVerdict,
  refusals,
  replyToOutcome,
  replyToOutcomes,
  SmtpRefusal,
} from './smtp-replies';
import { ListenerServer } from './smtp-server-connection';
import { toDelivery } from './to-delivery';

export type { SmtpListenerOptions } from './smtp-listener-options';

export interface SmtpListener {
  readonly port: number;
  readonly sessions: number;
  /** Octets of messages being received or made durable. */
  readonly inFlightBytes: number;
  /** For sessions that begin TLS from now on. */
  setCertificate(pair: PemPair): void;
  /** Takes no more sessions, lets running transactions finish, then closes. Never rejects. */
  stop(): Promise<void>;
}

/** Commands of old that answer to anybody, and those that only make sense behind a proxy. */
const DISABLED_COMMANDS = ['AUTH', 'HELP', 'WIZ', 'SHELL', 'KILL', 'XCLIENT', 'XFORWARD'];

/** A client that goes on this far past the limit does not want to hear the reply to its dot. */
const OVERRUN_FACTOR = 2;

/** Connections that wait to be accepted: whoever opens a thousand at once gets an answer and no reset. */
const BACKLOG = 4_096;
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
  const unresolved = failureReport(log, 'recipient not resolved');
  const limits = { ...DEFAULT_SMTP_LIMITS, ...options.limits };
  const lmtp = protocol === 'lmtp';
  const budget: ContentBudget = { limit: limits.maxInFlightBytes, used: 0 };
  const clientBudgets = new Map<string, ContentBudget>();
  const admission = new SessionAdmission(limits);
  const lag = watchEventLoopLag();
  const transactions = new WeakMap<SMTPServerEnvelope, Transaction>();
  let stopping = false;
  let transfers = 0;
  let onDrained: (() => void) | null = null;

  const overloaded = () => lag.milliseconds() > limits.maxLagMs;

  const budgetOf = (client: string): ContentBudget => {
    let own = clientBudgets.get(client);
    if (own === undefined) {
      own = { limit: limits.maxInFlightBytesPerClient, used: 0 };
      clientBudgets.set(client, own);
    }
    return own;
  };
  const releaseContent = (client: string, gathering: ContentGathering) => {
    gathering.release();
    if (clientBudgets.get(client)?.used === 0) clientBudgets.delete(client);
  };
  const refused = <Answer>(answer: Answer): Answer => {
    if (answer instanceof SmtpRefusal) options.onRefused?.(answer.reason);
    return answer;
  };

  const permitted = async (key: string): Promise<boolean> => {
    if (consume === undefined) return true;
    try {
      return await consume(key);
    } catch (error) {
      log.warn({ err: error, key }, 'rate limit not available');
      return true;
    }
  };

  const onConnect = (session: SMTPServerSession, done: (error?: Error) => void) => {
    if (stopping) return done(refused(refusals.stopping()));
    if (overloaded()) return done(refused(refusals.overloaded()));
    if (consume === undefined) return done();
    void permitted(`connect:${clientNetwork(session.remoteAddress)}`).then((ok) =>
      done(ok ? undefined : refused(refusals.tooManyConnections())),
    );
  };

  const begun = (session: SMTPServerSession, done: () => void) => {
    server.connectionOf(session)?.noteProgress();
    done();
  };

  const onMailFrom = (
    address: SMTPServerAddress,
    session: SMTPServerSession,
    done: (error?: Error) => void,
  ) => {
    if (overloaded()) return done(refused(refusals.overloaded()));
    const declared = address.args === false ? 0 : Number(address.args['SIZE'] ?? 0);
    const own = clientBudgets.get(clientNetwork(session.remoteAddress));
    const isFull = (own === undefined ? [budget] : [budget, own]).some(
      ({ used, limit }) => used + declared > limit,
    );
    if (isFull) return done(refused(refusals.outOfMemory()));
    if (consume === undefined) return begun(session, done);
    void permitted(`mail:${clientNetwork(session.remoteAddress)}`).then((ok) =>
      ok ? begun(session, done) : done(refused(refusals.tooManyMessages())),
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
        if (verdict.kind !== 'deliver')
          return done(refused(refusalOfVerdict(verdict)) ?? undefined);
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
        begun(session, done);
      },
      (error: unknown) => {
        unresolved(error);
        done(refused(refusals.failed()));
      },
    );
  };

  const endTransfer = (session: SMTPServerSession) => {
    const connection = server.connectionOf(session);
    if (connection !== undefined) {
      connection.transferring = false;
      connection.noteProgress();
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
    const client = clientNetwork(session.remoteAddress);
    const gathering = new ContentGathering(limits.maxMessageBytes, [budget, budgetOf(client)]);
    if (connection !== undefined) {
      connection.transferring = true;
      connection.noteProgress();
    }
    transfers += 1;
    let settled = false;

    const settle = (error: Error | null, reply?: string | (string | Error)[]) => {
      if (settled) return;
      settled = true;
      releaseContent(client, gathering);
      if (refused(error) === null) options.onAccepted?.();
      done(error, reply);
      endTransfer(session);
    };
    stream.on('data', (chunk: Buffer) => {
      gathering.add(chunk);
      if (gathering.total > limits.maxMessageBytes * OVERRUN_FACTOR && !settled) {
        refused(refusals.tooLarge(limits.maxMessageBytes));
        connection?.send(421, refusals.tooLarge(limits.maxMessageBytes).message);
      }
    });
    // The client disconnected: no reply is needed.
    const abandon = () => {
      if (settled || stream.readableEnded) return;
      settled = true;
      releaseContent(client, gathering);
      endTransfer(session);
    };
    stream.on('error', abandon);
    stream.on('close', abandon);
    stream.on('end', () => {
      if (gathering.tooLarge) return settle(refusals.tooLarge(limits.maxMessageBytes));
      if (gathering.overBudget) return settle(refusals.outOfMemory());
      const delivery = toDelivery(
        options.hostName,
        session,
        transaction.recipients,
        gathering,
        lmtp,
      );
      // Ours is one more.
      if (countReceivedFields(delivery.raw) > limits.maxReceivedFields + 1) {
        return settle(refusals.loop());
      }
      // What follows lives as long as the outcome is awaited, and must not hold the content.
      const { queueId, recipients } = delivery;
      const answer = (outcomes: readonly AcceptOutcome[]) => {
        if (lmtp) {
          settle(
            null,
            transaction.replies.map((index) =>
              refused(replyToOutcome(outcomes[index] ?? { kind: 'deferred' }, queueId)),
            ),
          );
          return;
        }
        const reply = replyToOutcomes(outcomes, queueId);
        if (typeof reply === 'string') settle(null, reply);
        else settle(reply);
      };
      handlers
        .accept(delivery, () => releaseContent(client, gathering))
        .then(answer, (error: unknown) => {
          log.error({ err: error, queueId }, 'message not accepted');
          const kind = isStorageFull(error) ? ('storage_full' as const) : ('deferred' as const);
          answer(recipients.map(() => ({ kind })));
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
      maxRecipients: limits.maxRecipients,
      socketTimeout: limits.idleTimeoutMs,
      closeTimeout: limits.stopGraceMs,
      ...options.tls,
      minVersion: 'TLSv1.2',
      onConnect,
      onMailFrom,
      onRcptTo,
      onData,
    },
    {
      greetsAtOnce: options.greetsAtOnce ?? (lmtp ? () => true : isLoopback),
      admission,
      patience: limits,
      onRefused: refused,
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      lag.stop();
      reject(error);
    });
    server.listen(options.port, options.host, BACKLOG, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
  server.on('error', (error: Error) => log.warn({ err: error }, 'SMTP session failed'));
  const { port } = server.server.address() as AddressInfo;

  return {
    port,
    get sessions() {
      return admission.sessions;
    },
    get inFlightBytes() {
      return budget.used;
    },
    setCertificate(pair) {
      server.updateSecureContext(pair);
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

function isStorageFull(error: unknown): boolean {
  return asStorageFailure(error) instanceof StorageUnavailableError;
}

function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}
