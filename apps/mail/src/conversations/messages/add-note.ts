import { AddNote } from '@dak/contracts/api';
import type { AddNoteRequest, Document } from '@dak/contracts/mail';
import { parseRequest, requestOf } from '@dak/contracts/requests';
import { actorOf } from '@dak/kernel';
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
export async function addNote(
  { database, clock }: ConversationDeps,
  request: AddNoteRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { organizationId } = principal;
  const { body_text, mentions = [] } = parseRequest(AddNote, requestOf(request));
  return database.inTenant(organizationId, (tx) =>
    idempotent(tx, context, async () => {
      const row = await loadConversation(tx, principal, request.conversationId, 'write', {
        lock: true,
      });
      const now = clock();
      const note = noteMessage(row, body_text, mentions, actorOf(principal), now);
      await recordMessages(tx, organizationId, [note], now);
      const stored = await selectMessage(tx, organizationId, row.id, note.id);
      const [record] = await messageRecords(tx, principal, [stored!], false);
      return { id: note.id, version: 1, json: jsonBytes(record), replayed: false };
    }),
  );
}
