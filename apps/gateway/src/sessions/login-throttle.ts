import { createHash } from 'node:crypto';
import { DomainError } from '@dak/kernel';
import type { SharedState } from '@dak/platform/shared-state';

export interface LoginLimits {
  /** Failures per address and account within {@link WINDOW_MS}. @default 10 */
  perAccountAndAddress: number;
  /** Failures per account from anywhere. @default 50 */
  perAccount: number;
  /** Failures per client address whatever the account. @default 100 */
  perAddress: number;
}

export const DEFAULT_LOGIN_LIMITS: LoginLimits = {
  perAccountAndAddress: 10,
  perAccount: 50,
  perAddress: 100,
};

const WINDOW_MS = 15 * 60_000;

/** Counts failed logins; who has used them up waits, whether the password is right or not. */
export class LoginThrottle {
  constructor(
    private readonly state: SharedState,
    private readonly limits: LoginLimits,
  ) {}

  /** @throws DomainError rate_limited */
  async check(email: string, address: string): Promise<void> {
    const buckets = await Promise.all(
      this.buckets(email, address).map(async ([key, limit]) => {
        const bucket = await this.state.consume(key, limit, WINDOW_MS, 0);
        return bucket.remaining >= 1 ? 0 : Math.ceil(WINDOW_MS / limit / 1000);
      }),
    );
    const wait = Math.max(...buckets);
    if (wait === 0) return;
    throw new DomainError(
      'rate_limited',
      'login_throttled',
      `Too many failed logins: wait ${wait} s and try again.`,
      { retryAfterSeconds: wait },
    );
  }

  async countFailure(email: string, address: string): Promise<void> {
    await Promise.all(
      this.buckets(email, address).map(([key, limit]) => this.state.consume(key, limit, WINDOW_MS)),
    );
  }

  private buckets(email: string, address: string): [key: string, limit: number][] {
    const account = createHash('sha256').update(email).digest('base64url').slice(0, 22);
    return [
      [`login:${account}:${address}`, this.limits.perAccountAndAddress],
      [`login:account:${account}`, this.limits.perAccount],
      [`login:address:${address}`, this.limits.perAddress],
    ];
  }
}
