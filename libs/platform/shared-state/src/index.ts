export { createSharedState, type SharedStateConfig } from './create-shared-state';
export { MemorySharedState, type MemorySharedStateOptions } from './memory-shared-state';
export { RedisSharedState, type RedisSharedStateOptions } from './redis-shared-state';
export type { Consumption, SharedState } from './shared-state';
export { takeTokens, type BucketDecision } from './token-bucket';
