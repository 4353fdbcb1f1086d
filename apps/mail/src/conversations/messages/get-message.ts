import type { Chunk, Document, GetMessageRequest, GetRawMessageRequest } from '@dak/contracts/mail';
import { NotFoundError, isUuid, type Principal } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { noteAudit } from '@dak/platform/audit';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes } from '@dak/platform/paging';
import type { ConversationDeps } from '../conversation-deps';
import { loadReadable } from '../visible-conversation-store';
import { shownHeaders, withoutBlindCopies } from './blind-copies';
import { messageRecords } from './message-records';
import type { MessageRow } from './message-row';
import { selectMessage } from './message-store';
import { readHeaders, readRawHtml } from './raw-message';

export async function getMessage(
  { database, blobs }: ConversationDeps,
  request: GetMessageRequest,
  { principal }: CallContext,
): Promise<Document> {
  const { organizationId } = principal;
  const { row, record, seesBlindCopies } = await database.inTenant(organizationId, async (tx) => {
    const found = await loadMessage(tx, principal, request);
    const [rendered] = await messageRecords(tx, principal, [found.row], found.seesBlindCopies);
    return { ...found, record: rendered! };
  });
  // Files are read after the transaction, so that no connection waits for a disk.
  if (row.raw_sha256 !== null) {
    if (request.includeHeaders) {
      const headers = await readHeaders(blobs, organizationId, row.raw_sha256);
      record.headers = seesBlindCopies ? headers : shownHeaders(headers);
    }
    if (request.rawHtml) {
      record.body_html = await readRawHtml(blobs, organizationId, row.raw_sha256);
    }
  }
  return { id: row.id, version: row.version, json: jsonBytes(record), replayed: false };
}

/**
 * The raw message (RFC 5322), without blind copies for callers who may not send; reading it is recorded.
 * @throws NotFoundError also for notes, which have none
 */
export async function* getRawMessage(
  { database, blobs }: ConversationDeps,
  request: GetRawMessageRequest,
  context: CallContext,
): AsyncGenerator<Chunk> {
  const { principal } = context;
  const { organizationId } = principal;
  const { sha256, seesBlindCopies } = await database.inTenant(organizationId, async (tx) => {
    const { row, ...rest } = await loadMessage(tx, principal, request);
    if (row.raw_sha256 === null) throw new NotFoundError('raw message');
    await noteAudit(tx, context, {
      action: 'message.raw_read',
      target: { type: 'message', id: row.id },
      details: { conversation_id: row.conversation_id },
    });
    return { ...rest, sha256: row.raw_sha256 };
  });
  const stream: AsyncIterable<Buffer> = await blobs.stream(organizationId, sha256);
  const shown = seesBlindCopies ? stream : withoutBlindCopies(stream);
  for await (const content of shown) yield { content };
}

async function loadMessage(
  tx: SqlExecutor,
  principal: Principal,
  request: { conversationId: string; messageId: string },
): Promise<{ row: MessageRow; seesBlindCopies: boolean }> {
  const { conversation, seesBlindCopies } = await loadReadable(
    tx,
    principal,
    request.conversationId,
  );
  if (!isUuid(request.messageId)) throw new NotFoundError('message');
  const row = await selectMessage(tx, principal.organizationId, conversation.id, request.messageId);
  if (row === null) throw new NotFoundError('message');
  return { row, seesBlindCopies };
}
