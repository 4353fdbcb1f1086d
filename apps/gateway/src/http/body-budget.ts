import { DomainError } from '@dak/kernel';

/** Six of the largest bodies at once. */
export const BODY_BYTES_OF_ONE = 64 * 1024 * 1024;
/** Overhead of a chunk besides its bytes: a body may arrive byte by byte. */
const CHUNK_BYTES = 256;

/** The share of one request; unlimited for requests without a credential, whose bodies are small. */
export interface BodyShare {
  /** @throws DomainError rate_limited when its organization has too much under way */
  add(bytes: number): void;
  release(): void;
}

/** Bodies that wait in memory, by organization: none can take the memory of all. */
export class BodyBudget {
  private readonly used = new Map<string, number>();

  constructor(private readonly most = BODY_BYTES_OF_ONE) {}

  share(organizationId: string): BodyShare {
    let own = 0;
    const change = (by: number): void => {
      own += by;
      const used = (this.used.get(organizationId) ?? 0) + by;
      if (used > 0) this.used.set(organizationId, used);
      else this.used.delete(organizationId);
    };
    return {
      add: (bytes) => {
        const cost = bytes + CHUNK_BYTES;
        if ((this.used.get(organizationId) ?? 0) + cost > this.most) throw tooMuch();
        change(cost);
      },
      release: () => change(-own),
    };
  }
}

function tooMuch(): DomainError {
  return new DomainError(
    'rate_limited',
    'rate_limited',
    'Too many large requests of the organization are under way: send fewer of them at once.',
    { retryAfterSeconds: 1 },
  );
}
