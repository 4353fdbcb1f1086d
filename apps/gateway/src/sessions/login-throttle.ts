import { createHash } from 'node:crypto';
import { DomainError } from '@dak/kernel';
import type { SharedState } from '@dak/platform/shared-state';
import { clientNetwork } from '@dak/platform/client-network';

/** Failures per account and client address within {@link WINDOW_MS}. */
export const DEFAULT_LOGIN_FAILURES = 10;

const WINDOW_MS = 15 * 60_000;

/**
 * Counts failed logins of an account from one client address. A client that has used them up waits, whether the password is right
 * or not; other clients can still sign in, so that no one can lock a user out remotely. An account that does not exist is
 * counted alike.
 */
export class LoginThrottle {
  constructor(
    private readonly state: SharedState,
    private readonly failures: number,
    private readonly onRefused: () => void,
  ) {}

  /**
   * Counts a failure before the password is checked, so that concurrent guesses cannot all pass.
   * @throws DomainError rate_limited
   */
  private async take(email: string, address: string): Promise<void> {
    const { allowed, retryAfterMs } = await this.consume(email, address, 1);
    if (allowed) return;
    this.onRefused();
    const wait = Math.max(1, Math.ceil(retryAfterMs / 1000));
    throw new DomainError(
      'rate_limited',
      'login_throttled',
      `Too many failed logins: wait ${wait} s and try again.`,
      { retryAfterSeconds: wait },
    );
  }

  /**
   * Checks a password, counted as in {@link take}. If it cannot be checked, because too many checks are running, no one
   * has failed.
   * @param look rejects if the password was not checked
   */
  async attempt<T>(email: string, address: string, look: () => Promise<T>): Promise<T> {
    await this.take(email, address);
    try {
      return await look();
    } catch (error) {
      await this.giveBack(email, address);
      throw error;
    }
  }

  /** It was no failure. */
  async giveBack(email: string, address: string): Promise<void> {
    await this.consume(email, address, -1);
  }

  private consume(email: string, address: string, cost: number) {
    const account = createHash('sha256').update(email).digest('base64url').slice(0, 22);
    const key = `login:${account}:${clientNetwork(address)}`;
    return this.state.consume(key, this.failures, WINDOW_MS, cost);
  }
}
