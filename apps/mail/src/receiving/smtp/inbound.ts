import type { Clock } from '@dak/kernel';
import {
  createSelfSignedCertificate,
  watchTlsFiles,
  type PemPair,
  type PemPaths,
  type TlsFiles,
  type TlsFilesLog,
} from '@dak/platform/tls-files';
import { inSpan } from '@dak/platform/telemetry';
import type { AddressDirectory } from '../../mailboxes/addresses/address-directory';
import type { Spool } from '../../spool/spool';
import { spoolEntry, type SpoolEntry } from '../../spool/spool-entry';
import type { InboundMetrics } from './inbound-metrics';
import type { AcceptOutcome, SmtpDelivery, SmtpHandlers } from './smtp-delivery';
import { createSmtpListener, type SmtpListener } from './smtp-listener';
import type { SmtpLimits, SmtpListenerLog } from './smtp-listener-options';

export interface InboundOptions {
  readonly directory: AddressDirectory;
  readonly spool: Spool;
  readonly clock: Clock;
  readonly log: SmtpListenerLog & TlsFilesLog;
  /** Our name in greetings and trace fields. */
  readonly hostName: string;
  readonly smtp: { readonly host: string; readonly port: number };
  /** Null: no LMTP. */
  readonly lmtp: { readonly host: string; readonly port: number } | null;
  readonly limits?: Partial<SmtpLimits>;
  /** Null: STARTTLS with a certificate that signs itself, made at the start. */
  readonly tls?: PemPaths | null;
  readonly metrics?: InboundMetrics;
  /** See `SmtpListenerOptions.consume`. */
  readonly consume?: (key: string) => Promise<boolean>;
}

export interface InboundPorts {
  readonly smtp: number;
  readonly lmtp: number | null;
}

export interface Inbound {
  /** The ports taken, where 0 was asked for. @throws the error of `listen` */
  start(): Promise<InboundPorts>;
  /** Lets running transactions finish; what they delivered is durable when it resolves. */
  stop(): Promise<void>;
}

const SELF_SIGNED_DAYS = 3650;

/** Mail from outside: SMTP and LMTP in front of the spool. */
export function createInbound(options: InboundOptions): Inbound {
  const { spool, directory } = options;
  const listeners: SmtpListener[] = [];
  let files: TlsFiles | null = null;

  const openCertificate = (): PemPair => {
    if (options.tls === undefined || options.tls === null) {
      // Senders that have no policy for us take any certificate (RFC 3207 §4.1): this keeps listeners out.
      return createSelfSignedCertificate(options.hostName, { days: SELF_SIGNED_DAYS });
    }
    files = watchTlsFiles({
      paths: options.tls,
      log: options.log,
      onChange: (pair) => listeners.forEach((listener) => listener.setCertificate(pair)),
    });
    return files.pair;
  };

  const listen = async (
    protocol: 'smtp' | 'lmtp',
    address: { host: string; port: number },
    tls: PemPair,
  ): Promise<number> => {
    const handlers: SmtpHandlers = {
      resolveRecipient: (recipient) => directory.resolve(recipient),
      // The trace of a mail begins here. Its span lives until the outcome, and must not hold the content.
      accept: (delivery, onPlaced) => {
        let given: SmtpDelivery | null = delivery;
        return inSpan(
          `${protocol} accept`,
          { kind: 'server', attributes: { 'dak.queue_id': delivery.queueId }, parent: null },
          (traceparent) => {
            const taken = given!;
            given = null;
            return accept(spool, entriesOf(taken, protocol, traceparent ?? null), taken, onPlaced);
          },
        );
      },
    };
    const listener = await createSmtpListener({
      protocol,
      ...address,
      hostName: options.hostName,
      limits: options.limits,
      consume: options.consume,
      tls,
      log: options.log,
      handlers,
      onRefused: (reason) => options.metrics?.refused(protocol, reason),
      onAccepted: () => options.metrics?.accepted(protocol),
    });
    listeners.push(listener);
    options.metrics?.watchSessions(protocol, () => listener.sessions);
    return listener.port;
  };

  return {
    async start() {
      const tls = openCertificate();
      const smtp = await listen('smtp', options.smtp, tls);
      const lmtp = options.lmtp === null ? null : await listen('lmtp', options.lmtp, tls);
      return { smtp, lmtp };
    },
    async stop() {
      files?.stop();
      await Promise.all(listeners.splice(0).map((listener) => listener.stop()));
      await spool.idle();
    },
  };
}

/** Holds no content while it waits. */
function accept(
  spool: Spool,
  entries: readonly SpoolEntry[],
  { recipients }: SmtpDelivery,
  onPlaced: () => void,
): Promise<AcceptOutcome[]> {
  const outcomes = recipients.map((): AcceptOutcome => ({ kind: 'accepted' }));
  return spool.append(entries, onPlaced).then(() => outcomes);
}

/** One per mailbox, however many of its addresses the envelope names. */
function entriesOf(
  delivery: SmtpDelivery,
  source: 'smtp' | 'lmtp',
  traceparent: string | null,
): SpoolEntry[] {
  const entries = new Map<string, SpoolEntry>();
  for (const { address, target } of delivery.recipients) {
    const key = `${target.organizationId}:${target.mailboxId}`;
    if (entries.has(key)) continue;
    entries.set(
      key,
      spoolEntry({
        ...target,
        source,
        recipient: address,
        queueId: delivery.queueId,
        mailFrom: delivery.mailFrom,
        clientAddress: delivery.clientAddress,
        helo: delivery.helo,
        protocol: delivery.protocol,
        tls: delivery.tls,
        raw: delivery.raw,
        receivedAt: delivery.receivedAt,
        traceparent,
      }),
    );
  }
  return [...entries.values()];
}
