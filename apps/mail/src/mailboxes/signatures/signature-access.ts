import { ForbiddenError, type Principal } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { requireMailbox } from '../visibility-store';

/**
 * The signature of a mailbox may be changed by users with write access; one for the whole organization
 * with the scope brand.manage.
 * @throws NotFoundError, ForbiddenError
 */
export async function requireSignatureAccess(
  tx: SqlExecutor,
  principal: Principal,
  mailboxId: string | null,
): Promise<void> {
  if (mailboxId !== null) {
    await requireMailbox(tx, principal, mailboxId, 'write');
  } else if (!principal.scopes.includes('brand.manage')) {
    throw new ForbiddenError(
      'A signature for the whole organization needs the scope brand.manage. Name a mailbox_id, or use a key with this scope.',
      'missing_scope',
    );
  }
}
