import type { ListMessagesRequest, Page } from '@dak/contracts/mail';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes, pageOf, pageWindow } from '@dak/platform/paging';
import type { ConversationDeps } from '../conversation-deps';
import { loadReadable } from '../visible-conversation-store';
import { shownHeaders } from './blind-copies';
import { messageRecords } from './message-records';
import { selectMessagePage } from './message-store';
import { readHeaders } from './raw-message';

/** The messages and notes of a conversation, oldest first; of a merged one, those of where it went. */
export async function listMessages(
  { database, cursorKey, blobs }: ConversationDeps,
  request: ListMessagesRequest,
  { principal }: CallContext,
): Promise<Page> {
  const { organizationId } = principal;
  const scope = {
    organizationId,
    list: 'messages',
    filter: { conversation: request.conversationId },
  };
  const window = pageWindow(cursorKey, scope, request.page);
  const { rows, records, total, seesBlindCopies } = await database.inTenant(
    organizationId,
    async (tx) => {
      const { conversation, seesBlindCopies } = await loadReadable(
        tx,
        principal,
        request.conversationId,
      );
      const found = await selectMessagePage(tx, organizationId, conversation.id, {
        limit: window.perPage + 1,
        offset: window.offset,
        after: window.after,
      });
      const records = await messageRecords(tx, principal, found.rows, seesBlindCopies);
      return { ...found, records, seesBlindCopies };
    },
  );
  const entries = rows.map((row, index) => ({ row, record: records[index]! }));
  if (request.includeHeaders) {
    for (const { row, record } of entries.slice(0, window.perPage)) {
      if (row.raw_sha256 !== null) {
        const headers = await readHeaders(blobs, organizationId, row.raw_sha256);
        record.headers = seesBlindCopies ? headers : shownHeaders(headers);
      }
    }
  }
  return pageOf(
    cursorKey,
    scope,
    window,
    entries,
    { count: total, isEstimate: false },
    (shown) => jsonBytes(shown.map(({ record }) => record)),
    ({ row }) => [row.sort_at, row.id],
  );
}
