import { isUuid, NotFoundError, type Principal } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { SqlParameters } from '../../db/sql-parameters';
import { conversationIsOpen, livingConversation } from '../../mailboxes/visibility-store';

/** A row of `attachment`. */
export interface AttachmentRow {
  id: string;
  filename: string;
  content_type: string;
  size_bytes: number;
  sha256: string;
  disposition: 'attachment' | 'inline';
  content_id: string | null;
}

/**
 * The attachment, if its conversation is open to the caller for reading.
 * @param conversationId null: wherever the message is.
 * @throws NotFoundError
 */
export async function findAttachment(
  tx: SqlExecutor,
  principal: Principal,
  conversationId: string | null,
  messageId: string,
  attachmentId: string,
): Promise<AttachmentRow> {
  const ids = [messageId, attachmentId, ...(conversationId === null ? [] : [conversationId])];
  if (!ids.every(isUuid)) throw new NotFoundError('attachment');
  const parameters = new SqlParameters();
  const organization = parameters.add(principal.organizationId);
  const message = parameters.add(messageId);
  const attachment = parameters.add(attachmentId);
  const conversation = parameters.add(conversationId);
  const living = livingConversation(organization, `${conversation}::uuid`);
  const { rows } = await tx.query<AttachmentRow>(
    `select a.id, a.filename, a.content_type, a.size_bytes, a.sha256, a.disposition, a.content_id
       from attachment a
       join message e      on e.organization_id = a.organization_id and e.id = a.message_id
       join conversation c on c.organization_id = e.organization_id and c.id = e.conversation_id
       join mailbox m      on m.organization_id = c.organization_id and m.id = c.mailbox_id and m.deleted_at is null
      where a.organization_id = ${organization} and a.id = ${attachment} and a.message_id = ${message}
        and (${conversation}::uuid is null or e.conversation_id = ${living})
        and ${conversationIsOpen(principal, 'read', 'c', parameters)}`,
    parameters.values,
  );
  if (rows[0] === undefined) throw new NotFoundError('attachment');
  return rows[0];
}
