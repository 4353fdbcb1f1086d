import { MemorySharedState } from './memory-shared-state';
import { RedisSharedState } from './redis-shared-state';
import type { SharedState } from './shared-state';

export interface SharedStateConfig {
  /** URL of Redis; without it the state lives in this process, which is correct only for one replica. */
  url?: string | undefined;
  keyPrefix: string;
}

/** @throws UnavailableError when the configured Redis does not answer. */
export async function createSharedState(config: SharedStateConfig): Promise<SharedState> {
  if (config.url === undefined || config.url === '') return new MemorySharedState();
  return RedisSharedState.connect({ url: config.url, keyPrefix: config.keyPrefix });
}
