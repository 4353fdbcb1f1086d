import { DomainError } from '@dak/kernel';
import { MemorySharedState, type Consumption, type SharedState } from '@dak/platform/shared-state';
import { clientNetwork } from '@dak/platform/client-network';
import type { RateClass } from './route';

export interface RateLimits {
  /** Per credential. @default 600 */
  readsPerMinute: number;
  /** Per credential. @default 60 */
  writesPerMinute: number;
  /**
   * Requests without a valid credential, per client address. A wrong key costs a look-up (0.4 ms): at the 6 000 that
   * belong to the default of DAK_READS_PER_MINUTE one address takes at most 4 % of a core.
   * @default a tenth of the reads, at least 600
   */
  anonymousPerMinute: number;
  /**
   * Requests of all routes that check a secret, per client address.
   * @default a two-thousandth of the reads, at least 30
   */
  authPerMinute: number;
}

/** Limits not given are derived from the reads, so that raising those for a load test raises all. */
export function rateLimits(given: Partial<RateLimits> = {}): RateLimits {
  const readsPerMinute = given.readsPerMinute ?? 600;
  return {
    readsPerMinute,
    writesPerMinute: given.writesPerMinute ?? 60,
    anonymousPerMinute: given.anonymousPerMinute ?? Math.max(600, Math.floor(readsPerMinute / 10)),
    authPerMinute: given.authPerMinute ?? Math.max(30, Math.floor(readsPerMinute / 2_000)),
  };
}

const WINDOW_MS = 60_000;

export type LimitClass = RateClass | 'anonymous';

/** Values of a reply's `RateLimit-*` headers. */
export interface Allowance {
  class: LimitClass;
  limit: number;
  policy: string;
  consumption: Consumption;
}

/**
 * Token buckets in the shared state: per credential and class, or per client address. While the
 * store does not answer, each process counts for itself: a limit is no reason to refuse service.
 */
export class RateLimiter {
  private readonly fallback = new MemorySharedState();
  private readonly policies: Readonly<Record<LimitClass, { limit: number; policy: string }>>;

  constructor(
    private readonly state: SharedState,
    readonly limits: RateLimits,
  ) {
    const policy = (limit: number) => ({ limit, policy: `${limit};w=${WINDOW_MS / 1000}` });
    this.policies = {
      read: policy(limits.readsPerMinute),
      write: policy(limits.writesPerMinute),
      anonymous: policy(limits.anonymousPerMinute),
      auth: policy(limits.authPerMinute),
    };
  }

  take(credentialId: string, rateClass: RateClass): Promise<Allowance> {
    return this.consume(`rate:${rateClass}:${credentialId}`, rateClass);
  }

  takeAnonymous(address: string): Promise<Allowance> {
    return this.consume(`rate:address:${clientNetwork(address)}`, 'anonymous');
  }

  /** Refunds a request that turned out not to be anonymous, or was not checked. */
  async giveBackAnonymous(address: string): Promise<void> {
    await this.consume(`rate:address:${clientNetwork(address)}`, 'anonymous', -1);
  }

  takeAuth(address: string): Promise<Allowance> {
    return this.consume(`rate:auth:${clientNetwork(address)}`, 'auth');
  }

  private async consume(key: string, name: LimitClass, cost = 1): Promise<Allowance> {
    const { limit, policy } = this.policies[name];
    let consumption: Consumption;
    try {
      consumption = await this.state.consume(key, limit, WINDOW_MS, cost);
    } catch {
      consumption = await this.fallback.consume(key, limit, WINDOW_MS, cost);
    }
    return { class: name, limit, policy, consumption };
  }

  close(): Promise<void> {
    return this.fallback.close();
  }
}

/** @throws DomainError rate_limited */
export function requireAllowance({ limit, consumption }: Allowance): void {
  if (consumption.allowed) return;
  const seconds = Math.max(1, Math.ceil(consumption.retryAfterMs / 1000));
  throw new DomainError(
    'rate_limited',
    'rate_limited',
    `More than ${limit} requests of this kind within a minute: wait ${seconds} s, as Retry-After says.`,
    { retryAfterSeconds: seconds },
  );
}

export function pushRateHeaders(
  headers: string[],
  { limit, policy, consumption }: Allowance,
): void {
  headers.push(
    'RateLimit-Limit',
    String(limit),
    'RateLimit-Remaining',
    String(Math.max(0, Math.floor(consumption.remaining))),
    'RateLimit-Reset',
    String(Math.ceil(consumption.resetMs / 1000)),
    'RateLimit-Policy',
    policy,
  );
}
