import type { AddNoteRequest, Document } from '@dak/contracts/mail';
import { actorOf, InvalidError, isUuid } from '@dak/kernel';
import type { CallContext } from '@dak/platform/grpc';
import { idempotent } from '@dak/platform/idempotency';
import { jsonBytes } from '@dak/platform/paging';
import type { ConversationDeps } from '../conversation-deps';
import { loadConversation } from '../visible-conversation-store';
import { messageRecords } from './message-records';
import { selectMessage } from './message-store';
import { noteMessage } from './note-message';
import { recordMessages } from './record-messages';

/** Writes a comment into the conversation; `mentions` are ids of users. */
export function addNote(
  { database, clock }: ConversationDeps,
  request: AddNoteRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { organizationId } = principal;
  if (!request.mentions.every((id) => isUuid(id))) {
    throw new InvalidError('mentions must hold the UUIDs of users.');
  }
  return database.inTenant(organizationId, (tx) =>
    idempotent(tx, context, async () => {
      const row = await loadConversation(tx, principal, request.conversationId, 'write', {
        lock: true,
      });
      const now = clock();
      const note = noteMessage(row, request.bodyText, request.mentions, actorOf(principal), now);
      await recordMessages(tx, organizationId, [note], now);
      const stored = await selectMessage(tx, organizationId, row.id, note.id);
      const [record] = await messageRecords(tx, principal, [stored!], false);
      return { id: note.id, version: 1, json: jsonBytes(record), replayed: false };
    }),
  );
}
