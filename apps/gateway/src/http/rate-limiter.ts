import { DomainError } from '@dak/kernel';
import { MemorySharedState, type Consumption, type SharedState } from '@dak/platform/shared-state';
import type { RateClass } from './route';

export interface RateLimits {
  /** Per credential. @default 600 */
  readsPerMinute: number;
  /** Per credential. @default 60 */
  writesPerMinute: number;
  /** Requests without a valid credential, per client address. @default twice the reads */
  anonymousPerMinute: number;
}

/** What is not given: 600 reads, 60 writes, and for the credential-less twice the reads. */
export function rateLimits(given: Partial<RateLimits> = {}): RateLimits {
  const readsPerMinute = given.readsPerMinute ?? 600;
  return {
    readsPerMinute,
    writesPerMinute: given.writesPerMinute ?? 60,
    anonymousPerMinute: given.anonymousPerMinute ?? 2 * readsPerMinute,
  };
}

const WINDOW_MS = 60_000;

/** What the `RateLimit-*` headers of one reply say. */
export interface Allowance {
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
  private readonly policies: Readonly<
    Record<RateClass | 'anonymous', { limit: number; policy: string }>
  >;

  constructor(
    private readonly state: SharedState,
    readonly limits: RateLimits,
  ) {
    const policy = (limit: number) => ({ limit, policy: `${limit};w=${WINDOW_MS / 1000}` });
    this.policies = {
      read: policy(limits.readsPerMinute),
      write: policy(limits.writesPerMinute),
      anonymous: policy(limits.anonymousPerMinute),
    };
  }

  take(credentialId: string, rateClass: RateClass): Promise<Allowance> {
    return this.consume(`rate:${rateClass}:${credentialId}`, rateClass);
  }

  takeAnonymous(address: string): Promise<Allowance> {
    return this.consume(`rate:address:${address}`, 'anonymous');
  }

  private async consume(key: string, name: RateClass | 'anonymous'): Promise<Allowance> {
    const { limit, policy } = this.policies[name];
    let consumption: Consumption;
    try {
      consumption = await this.state.consume(key, limit, WINDOW_MS);
    } catch {
      consumption = await this.fallback.consume(key, limit, WINDOW_MS);
    }
    return { limit, policy, consumption };
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
