import type { Database } from '@dak/platform/postgres';
import { allocateConversationNumbers } from '../../conversations/conversation-store';

const MAX_ORGANIZATIONS = 1000;

/**
 * Conversation numbers for batches that cannot know beforehand how many conversations they will open:
 * numbers left over by one batch go to the next, so that gaps come only with a restart.
 */
export class NumberReserve {
  readonly #left = new Map<string, number[]>();

  constructor(private readonly database: Database) {}

  async take(organizationId: string, count: number): Promise<number[]> {
    const left = this.#left.get(organizationId) ?? [];
    const taken = left.splice(0, count);
    if (taken.length === count) return taken;
    const missing = count - taken.length;
    return [
      ...taken,
      ...(await allocateConversationNumbers(this.database, organizationId, missing)),
    ];
  }

  giveBack(organizationId: string, numbers: readonly number[]): void {
    if (numbers.length === 0) return;
    if (this.#left.size >= MAX_ORGANIZATIONS) this.#left.clear();
    const left = [...numbers, ...(this.#left.get(organizationId) ?? [])];
    this.#left.set(
      organizationId,
      left.sort((a, b) => a - b),
    );
  }
}
