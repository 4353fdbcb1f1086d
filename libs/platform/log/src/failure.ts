import { DomainError, isOutage } from '@dak/kernel';

export type FailureKind = 'transient' | 'poison' | 'unknown';

/** Whether trying again can help: a dependency that is away, input that never works, or not known. */
export function classifyFailure(error: unknown): FailureKind {
  if (error instanceof DomainError && error.kind === 'invalid') return 'poison';
  return isOutage(error) ? 'transient' : 'unknown';
}

/** Milliseconds before the next try: 50, 100, 200 … at most 5 s, plus or minus a fifth. */
export function retryDelayMs(attempt: number, random: number): number {
  return Math.min(50 * 2 ** (attempt - 1), 5_000) * (0.8 + 0.4 * random);
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
