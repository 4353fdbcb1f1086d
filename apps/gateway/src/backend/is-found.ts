import { DomainError } from '@dak/kernel';

/** False if the requested record does not exist for the caller. */
export async function isFound(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'not_found') return false;
    throw error;
  }
}
