import type { Clock } from '@dak/kernel';
import type { AddressDirectory } from './address-directory';
import type { AcceptOutcome, SmtpDelivery, SmtpHandlers } from './smtp-delivery';
import { createSmtpListener, type SmtpListener } from './smtp-listener';
import type { SmtpLimits, SmtpListenerLog } from './smtp-listener-options';
import type { Spool } from './spool';
import { spoolEntry, type SpoolEntry } from './spool-entry';

export interface InboundOptions {
  readonly directory: AddressDirectory;
  readonly spool: Spool;
  readonly clock: Clock;
  readonly log: SmtpListenerLog;
  /** Our name in greetings and trace fields. */
  readonly hostName: string;
  readonly smtp: { readonly host: string; readonly port: number };
  /** Null: no LMTP. */
  readonly lmtp: { readonly host: string; readonly port: number } | null;
  readonly limits?: Partial<SmtpLimits>;
  readonly tls?: { readonly key: string; readonly cert: string };
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

/** Mail from outside: SMTP and LMTP in front of the spool. */
export function createInbound(options: InboundOptions): Inbound {
  const { spool, directory } = options;
  const listeners: SmtpListener[] = [];

  const listen = async (
    protocol: 'smtp' | 'lmtp',
    address: { host: string; port: number },
  ): Promise<number> => {
    const handlers: SmtpHandlers = {
      resolveRecipient: (recipient) => directory.resolve(recipient),
      accept: (delivery) => accept(spool, delivery, protocol),
    };
    const listener = await createSmtpListener({
      protocol,
      ...address,
      hostName: options.hostName,
      limits: options.limits,
      consume: options.consume,
      tls: options.tls,
      log: options.log,
      handlers,
    });
    listeners.push(listener);
    return listener.port;
  };

  return {
    async start() {
      const smtp = await listen('smtp', options.smtp);
      const lmtp = options.lmtp === null ? null : await listen('lmtp', options.lmtp);
      return { smtp, lmtp };
    },
    async stop() {
      await Promise.all(listeners.splice(0).map((listener) => listener.stop()));
      await spool.idle();
    },
  };
}

/** One entry per mailbox, however many of its addresses the envelope names. */
async function accept(
  spool: Spool,
  delivery: SmtpDelivery,
  source: 'smtp' | 'lmtp',
): Promise<AcceptOutcome[]> {
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
      }),
    );
  }
  await spool.append([...entries.values()]);
  return delivery.recipients.map(() => ({ kind: 'accepted' }));
}
