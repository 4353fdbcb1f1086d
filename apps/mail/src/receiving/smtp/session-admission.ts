import { clientNetwork } from '@dak/platform/client-network';
import { refusals, type SmtpRefusal } from './smtp-replies';

export interface AdmissionLimits {
  readonly maxSessions: number;
  readonly sessionsPerClient: number;
  readonly sessionsPerNetwork: number;
}

/** A share of the listener beyond which it is short of sessions. */
const CROWDED_SHARE = 0.75;

/**
 * Limits sessions. A client may have a few, and a network of clients a share of the whole, so that
 * neither one host nor one rented block of addresses can take all of them.
 */
export class SessionAdmission {
  #total = 0;
  readonly #clients = new Map<string, number>();
  readonly #networks = new Map<string, number>();

  constructor(private readonly limits: AdmissionLimits) {}

  get sessions(): number {
    return this.#total;
  }

  /** Few sessions are free: idle clients are closed sooner. */
  get isCrowded(): boolean {
    return this.#total > this.limits.maxSessions * CROWDED_SHARE;
  }

  /** @returns null when the session was counted: it has to leave once */
  enter(address: string): SmtpRefusal | null {
    const client = clientNetwork(address);
    const network = clientNetwork(address, 'network');
    const ofClient = this.#clients.get(client) ?? 0;
    const ofNetwork = this.#networks.get(network) ?? 0;
    if (ofClient >= this.limits.sessionsPerClient) return refusals.tooManySessions();
    if (ofNetwork >= this.limits.sessionsPerNetwork) return refusals.networkFull();
    if (this.#total >= this.limits.maxSessions) return refusals.listenerFull();
    this.#clients.set(client, ofClient + 1);
    this.#networks.set(network, ofNetwork + 1);
    this.#total += 1;
    return null;
  }

  leave(address: string): void {
    this.#total -= 1;
    decrement(this.#clients, clientNetwork(address));
    decrement(this.#networks, clientNetwork(address, 'network'));
  }
}

function decrement(counts: Map<string, number>, key: string): void {
  const left = (counts.get(key) ?? 0) - 1;
  if (left > 0) counts.set(key, left);
  else counts.delete(key);
}
