import { randomBytes } from 'node:crypto';
import { UnavailableError } from '@dak/kernel';
import type { SharedState } from '@dak/platform/shared-state';

/** Bounds what is cached under a stamp that a crash has left behind while several changes ran at once. */
const TTL_MS = 60_000;
/** A change that does not report back within this time has failed or its process is gone. */
const CHANGE_TTL_MS = 60_000;
const CHANGING = '!';

/**
 * One stamp per organization that every change of its users, keys, sessions and departments
 * replaces, so that what replicas remember of a credential ends with the very next request. While a
 * change is in progress nothing is cached: a process that dies between its commit and the new
 * stamp leaves that state behind, not a stale one. Stamps are random, so a store that lost them
 * cannot come back to an old one.
 */
export class IdentityVersions {
  constructor(private readonly state: SharedState) {}

  /** The stamp; null when nothing may be remembered now (a change is under way, or the store does not answer). */
  async current(organizationId: string): Promise<string | null> {
    try {
      const stamp =
        (await this.state.get(keyOf(organizationId))) ?? (await this.begin(organizationId));
      return stamp === null || stamp.startsWith(CHANGING) ? null : stamp;
    } catch {
      return null;
    }
  }

  /**
   * Runs a change of identity; when it returns, every replica's next request sees it.
   * @throws UnavailableError without having begun when the change could not be announced
   */
  async change<T>(organizationId: string, work: () => Promise<T>): Promise<T> {
    const key = keyOf(organizationId);
    try {
      await this.state.set(key, CHANGING + nonce(), CHANGE_TTL_MS);
    } catch (cause) {
      throw new UnavailableError(
        'The change cannot be announced to the other replicas now. Try again in a moment.',
        1,
        cause,
      );
    }
    try {
      return await work();
    } finally {
      // If this fails the mark stays until it expires: slower, never stale.
      await this.state.set(key, nonce(), TTL_MS).catch(() => undefined);
    }
  }

  private async begin(organizationId: string): Promise<string | null> {
    const key = keyOf(organizationId);
    await this.state.setIfAbsent(key, nonce(), TTL_MS);
    return this.state.get(key);
  }
}

function keyOf(organizationId: string): string {
  return `identity:${organizationId}`;
}

function nonce(): string {
  return randomBytes(12).toString('base64url');
}
