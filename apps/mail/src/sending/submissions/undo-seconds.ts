import type { Principal } from '@dak/kernel';
import type { MailboxRow } from '../../mailboxes/mailbox-row';

const DEFAULT_UNDO_SECONDS = 10;

/** A person gets the mailbox's undo time; an API key, which has no undo button, none. */
export function undoSecondsOf(principal: Pick<Principal, 'type'>, mailbox: MailboxRow): number {
  return principal.type === 'session' ? (mailbox.settings.undo_seconds ?? DEFAULT_UNDO_SECONDS) : 0;
}
