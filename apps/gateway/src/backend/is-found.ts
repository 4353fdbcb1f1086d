import { DomainError } from '@dak/kernel';

/** False when what the call asks for does not exist for its caller. */
export async function isFound(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'not_found') return false;
    throw error;
  }
}
