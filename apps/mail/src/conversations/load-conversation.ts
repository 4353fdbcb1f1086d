import { ConflictError, NotFoundError, isUuid, type Principal } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { conversationIsOpen, lacksAccess, type Access } from '../mailboxes/visibility';
import { SqlParameters } from '../sql-parameters';
import { CONVERSATION_COLUMNS, type ConversationRow } from './conversation-row';

export interface LoadOptions {
  /** Take the row lock: every change of a conversation starts with it. @default false */
  lock?: boolean;
}

/**
 * The conversation, if the caller may use it for `access`. Reading a merged one shows where it went;
 * changing it is refused.
 * @throws NotFoundError when it does not exist, its mailbox is deleted, or it is not visible to the caller
 * @throws ForbiddenError when the caller sees it but has a lower access level
 * @throws ConflictError `conversation_merged` when `access` is not `read` and it was merged into another
 */
export async function loadConversation(
  tx: SqlExecutor,
  principal: Principal,
  id: string,
  access: Access,
  options: LoadOptions = {},
): Promise<ConversationRow> {
  if (!isUuid(id)) throw new NotFoundError('conversation');
  const parameters = new SqlParameters();
  const organization = parameters.add(principal.organizationId);
  const conversation = parameters.add(id);
  const isVisible = conversationIsOpen(principal, 'read', 'c', parameters);
  const isOpen = conversationIsOpen(principal, access, 'c', parameters);
  const { rows } = await tx.query<ConversationRow & { is_open: boolean }>(
    `select ${CONVERSATION_COLUMNS}, ${isOpen} as is_open
       from conversation c
       join mailbox m on m.organization_id = c.organization_id and m.id = c.mailbox_id and m.deleted_at is null
      where c.organization_id = ${organization} and c.id = ${conversation} and ${isVisible}
      ${options.lock ? 'for update of c' : ''}`,
    parameters.values,
  );
  const row = rows[0];
  if (row === undefined) throw new NotFoundError('conversation');
  if (!row.is_open) throw lacksAccess(access);
  if (access !== 'read' && row.merged_into_id !== null) {
    throw new ConflictError(
      `This conversation was merged: change ${row.merged_into_id} instead.`,
      'conversation_merged',
    );
  }
  return row;
}
