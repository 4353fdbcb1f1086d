import { ConflictError, NotFoundError, isUuid, type Principal } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { SqlParameters } from '../db/sql-parameters';
import {
  conversationIsOpen,
  lacksAccess,
  livingConversation,
  type Access,
} from '../mailboxes/visibility-store';
import { CONVERSATION_COLUMNS, type ConversationRow } from './conversation-row';

export interface LoadOptions {
  /** Take the row lock: every change of a conversation starts with it. @default false */
  lock?: boolean;
}

/**
 * The conversation, if the caller may use it for `access`. A merged one is read as the conversation that
 * it was merged into, subject to the caller's rights there; changing it is refused.
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
  const { asked, living } = await loadWithMerged(tx, principal, id, access, options);
  if (!living.is_open) throw lacksAccess(access);
  if (access !== 'read' && asked.merged_into_id !== null) {
    throw new ConflictError(
      `This conversation was merged: change ${living.id} instead.`,
      'conversation_merged',
    );
  }
  return living;
}

/**
 * The conversation, if the caller may read it, and whether they see its blind copies: that takes the level
 * `send`, and of a key the scope too.
 * @throws NotFoundError as `loadConversation`
 */
export async function loadReadable(
  tx: SqlExecutor,
  principal: Principal,
  id: string,
): Promise<{ conversation: ConversationRow; seesBlindCopies: boolean }> {
  const { living } = await loadWithMerged(tx, principal, id, 'send');
  const seesBlindCopies = living.is_open && principal.scopes.includes('mail.send');
  return { conversation: living, seesBlindCopies };
}

/**
 * The record that answers for an id: of a merged conversation the one it went into, under the id that was
 * asked for and with `merged_into_id`.
 * @throws NotFoundError as `loadConversation`
 */
export async function loadConversationRecord(
  tx: SqlExecutor,
  principal: Principal,
  id: string,
): Promise<ConversationRow> {
  const { asked, living } = await loadWithMerged(tx, principal, id, 'read');
  const { number, version } = asked;
  return asked === living
    ? living
    : { ...living, id: asked.id, number, version, merged_into_id: living.id };
}

type OpenRow = ConversationRow & { is_open: boolean };

async function loadWithMerged(
  tx: SqlExecutor,
  principal: Principal,
  id: string,
  access: Access,
  options: LoadOptions = {},
): Promise<{ asked: OpenRow; living: OpenRow }> {
  if (!isUuid(id)) throw new NotFoundError('conversation');
  const asked = await selectOpen(tx, principal, id, access, 'asked', options.lock ?? false);
  if (asked === undefined) throw new NotFoundError('conversation');
  const living =
    asked.merged_into_id === null
      ? asked
      : await selectOpen(tx, principal, id, access, 'living', false);
  if (living === undefined) throw new NotFoundError('conversation');
  return { asked, living };
}

/** @param which the row that was asked for, of which a merged one says nothing about who may see it, or where it went */
async function selectOpen(
  tx: SqlExecutor,
  principal: Principal,
  id: string,
  access: Access,
  which: 'asked' | 'living',
  lock: boolean,
): Promise<OpenRow | undefined> {
  const parameters = new SqlParameters();
  const organization = parameters.add(principal.organizationId);
  const given = `${parameters.add(id)}::uuid`;
  const isVisible = conversationIsOpen(principal, 'read', 'c', parameters);
  const isOpen = conversationIsOpen(principal, access, 'c', parameters);
  const [wanted, condition] =
    which === 'asked'
      ? [given, `(c.merged_into_id is not null or ${isVisible})`]
      : [livingConversation(organization, given), isVisible];
  const { rows } = await tx.query<OpenRow>(
    `select ${CONVERSATION_COLUMNS}, ${isOpen} as is_open
       from conversation c
       join mailbox m on m.organization_id = c.organization_id and m.id = c.mailbox_id and m.deleted_at is null
      where c.organization_id = ${organization} and c.id = ${wanted} and ${condition}
      ${lock ? 'for update of c' : ''}`,
    parameters.values,
  );
  return rows[0];
}
