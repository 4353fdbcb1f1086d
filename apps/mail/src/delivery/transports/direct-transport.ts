import {
  createSmtpPool,
  type OnSmtpPhase,
  type RecipientResult,
  type SmtpSubmission,
} from '@dak/platform/smtp-client';
import { addressesOf, findMailExchangers, type MxResolver } from './mail-exchangers';
import { isPublicAddress } from './public-address';
import type { Transport } from './transport';

export interface DirectOptions {
  /** Our name in EHLO. */
  readonly localName: string;
  readonly resolver?: MxResolver;
  readonly random?: () => number;
  /** Whether mail may go to an address; for tests against a host of this machine. */
  readonly isAllowed?: (address: string) => boolean;
  /** @default 25 */
  readonly port?: number;
  /** Milliseconds for which a host that did not answer is passed over. @default 2 minutes */
  readonly avoidMs?: number;
}

const MAX_HOSTS = 5;
const CONNECT_TIMEOUT_MS = 15_000;

/** Mail goes to the MX hosts of each recipient's domain. */
export function createDirectTransport(options: DirectOptions): Transport {
  const {
    localName,
    resolver,
    random = Math.random,
    isAllowed = isPublicAddress,
    port = 25,
    avoidMs = 120_000,
  } = options;
  // Few per destination: other servers limit connections from one client.
  const pool = createSmtpPool({ maxConnections: 5, maxMessages: 50 });
  const avoided = new Map<string, number>();

  const attempt = async (
    submission: SmtpSubmission,
    host: string,
    address: string,
    onPhase: OnSmtpPhase,
    organizationId: string,
    giveWay: AbortSignal | undefined,
  ): Promise<RecipientResult[]> => {
    const results = await pool.send(
      {
        protocol: 'smtp',
        host: address,
        port,
        tls: 'opportunistic',
        serverName: host,
        localName,
        timeouts: { connect: CONNECT_TIMEOUT_MS },
      },
      submission,
      onPhase,
      organizationId,
      giveWay,
    );
    if (giveWay?.aborted === true) return results;
    if (results.every(neverConnected)) avoided.set(address, Date.now() + avoidMs);
    else avoided.delete(address);
    return results;
  };

  return {
    name: 'direct',
    routeOf: domainOf,
    async send(submission, onPhase, organizationId, giveWay) {
      const domain = domainOf(submission.recipients[0]!);
      const exchangers = await findMailExchangers(domain, random, resolver);
      if (exchangers.kind !== 'hosts') return all(submission, refusal(domain, exchangers));
      let last: RecipientResult[] | null = null;
      let sawPrivate = false;
      for (const host of exchangers.hosts.slice(0, MAX_HOSTS)) {
        for (const address of await addressesOf(host, resolver)) {
          if (!isAllowed(address)) {
            sawPrivate = true;
            continue;
          }
          if ((avoided.get(address) ?? 0) > Date.now()) continue;
          last = await attempt(submission, host, address, onPhase, organizationId, giveWay);
          // The next host is for the case that this one cannot be talked to, not for a second opinion.
          if (!last.every(neverGotToMail) || giveWay?.aborted === true) return last;
        }
      }
      if (last !== null) return last;
      const reason = sawPrivate
        ? `The mail hosts of ${domain} have private addresses`
        : `No mail host of ${domain} can be reached`;
      return all(submission, {
        outcome: sawPrivate ? 'rejected' : 'deferred',
        phase: 'connect',
        reason,
      });
    },
    close: (graceMs) => pool.close(graceMs),
  };
}

function domainOf(recipient: string): string {
  return recipient.slice(recipient.lastIndexOf('@') + 1).toLowerCase();
}

function neverConnected({ phase, reply }: RecipientResult): boolean {
  return phase === 'connect' && reply === undefined;
}

function neverGotToMail({ outcome, phase }: RecipientResult): boolean {
  return outcome === 'deferred' && ['connect', 'greeting', 'ehlo', 'tls'].includes(phase);
}

type Verdict = Omit<RecipientResult, 'recipient'>;

function all(submission: SmtpSubmission, verdict: Verdict): RecipientResult[] {
  return submission.recipients.map((recipient) => ({ recipient, ...verdict }));
}

function refusal(
  domain: string,
  exchangers: { kind: 'null_mx' | 'no_such_domain' } | { kind: 'unknown'; reason: string },
): Verdict {
  switch (exchangers.kind) {
    case 'null_mx': {
      const reply = { code: 556, enhanced: '5.1.10', text: `${domain} takes no mail` };
      return { outcome: 'rejected', phase: 'connect', reply };
    }
    case 'no_such_domain': {
      const reply = { code: 550, enhanced: '5.1.2', text: `There is no domain ${domain}` };
      return { outcome: 'rejected', phase: 'connect', reply };
    }
    case 'unknown':
      return { outcome: 'deferred', phase: 'connect', reason: exchangers.reason };
  }
}
