import { actorOf, type Clock, InvalidError, uuidv7 } from '@dak/kernel';
import type { CreateDraftRequest, Document } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { idempotent } from '@dak/platform/idempotency';
import { jsonBytes } from '@dak/platform/paging';
import type { Database, SqlExecutor } from '@dak/platform/postgres';
import { loadConversation } from '../../conversations/visible-conversation-store';
import { requireMailbox } from '../../mailboxes/visibility-store';
import { loadUploads } from '../submissions/load-files';
import { renderDraft, type DraftRow } from './draft';
import { fieldsOf } from './draft-fields';
import { insertDraft } from './draft-store';
import { loadDraft, shownDraft } from './visible-draft-store';

/** Keeps a new mail or an answer for later. Needs the access level `write`. */
export function createDraft(
  deps: { database: Database; clock: Clock },
  request: CreateDraftRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  return deps.database.inTenant(principal.organizationId, (tx) =>
    idempotent(tx, context, async () => {
      const now = deps.clock();
      const at = new Date(now).toISOString();
      const author = actorOf(principal);
      const row: DraftRow = {
        ...(await columnsOf(tx, request, context)),
        id: uuidv7(now),
        author_type: author.type,
        author_id: author.id,
        author_name: author.name,
        version: 1,
        created_at: at,
        updated_at: at,
      };
      await loadUploads(tx, principal, row.attachment_tokens, null);
      await insertDraft(tx, principal.organizationId, row);
      return draftDocument(shownDraft(principal, await loadDraft(tx, principal, row.id, 'read')));
    }),
  );
}

export function draftDocument(row: DraftRow): Document {
  return { id: row.id, version: row.version, json: jsonBytes(renderDraft(row)), replayed: false };
}

async function columnsOf(
  tx: SqlExecutor,
  { compose, reply }: CreateDraftRequest,
  { principal }: CallContext,
) {
  if (reply !== undefined) {
    const conversation = await loadConversation(tx, principal, reply.conversationId, 'write');
    const { id, mailbox_id } = conversation;
    return { ...fieldsOf('reply', reply), mailbox_id, conversation_id: id };
  }
  if (compose === undefined) {
    throw new InvalidError('mailbox_id is missing. Name a mailbox, or a conversation to answer.');
  }
  const mailbox = await requireMailbox(tx, principal, compose.mailboxId, 'write');
  return { ...fieldsOf('compose', compose), mailbox_id: mailbox.id, conversation_id: null };
}
