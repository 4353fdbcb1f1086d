import type { ListConversationsRequest, Page } from '@dak/contracts/mail';
import { InvalidError } from '@dak/kernel';
import type { CallContext } from '@dak/platform/grpc';
import { pageOf, pageWindow } from '@dak/platform/paging';
import type { ConversationDeps } from '../conversation-deps';
import { renderConversations, type ConversationTexts } from '../render-conversation';
import { conversationFilter } from './conversation-filter';
import { COUNT_LIMIT, conversationPage } from './conversation-page-sql';
import { findConversations } from './find-conversations-store';
import type { ConversationSort } from './listed-conversations-sql';

/**
 * A page of the conversations that the caller sees: one round trip, whatever the number of mailboxes.
 * The total is exact when only mailbox, status, disposition and department narrow the list, because
 * the tally knows it; else it is counted to {@link COUNT_LIMIT}.
 */
export async function listConversations(
  { database, cursorKey }: Pick<ConversationDeps, 'database' | 'cursorKey'>,
  request: ListConversationsRequest,
  { principal }: CallContext,
): Promise<Page> {
  const filter = conversationFilter(request.filter, principal);
  const sort = sortOf(request.sort);
  const scope = {
    organizationId: principal.organizationId,
    list: 'conversations',
    filter: { ...request.filter, sort: request.sort, user: principal.userId },
  };
  const window = pageWindow(cursorKey, scope, request.page);
  if (filter === null) {
    return {
      dataJson: Buffer.from('[]'),
      total: 0,
      totalIsEstimate: false,
      hasMore: false,
      nextCursor: '',
    };
  }
  const position = (row: ConversationTexts) => [row[sort.column], row.id];
  if (filter.query !== null) {
    const searched = { ...filter, query: filter.query };
    const { rows, total } = await database.inTenant(principal.organizationId, (tx) =>
      findConversations(tx, principal, searched, sort, window),
    );
    return pageOf(cursorKey, scope, window, rows, total, renderConversations, position);
  }
  const { statements, isExact } = conversationPage(principal, filter, sort, window);
  const results = await database.batchInTenant(principal.organizationId, statements);
  const rows = (results[0] ?? []).filter((row) => row['id'] !== null);
  const count = Number(results.at(-1)?.[0]?.['total'] ?? 0);
  return pageOf(
    cursorKey,
    scope,
    window,
    rows as unknown as ConversationTexts[],
    { count, isEstimate: !isExact && count > COUNT_LIMIT },
    renderConversations,
    position,
  );
}

function sortOf(text: string): ConversationSort {
  switch (text) {
    case '':
    case '-last_message_at':
      return { column: 'last_message_at', descending: true };
    case 'last_message_at':
      return { column: 'last_message_at', descending: false };
    case '-created_at':
      return { column: 'created_at', descending: true };
    case 'created_at':
      return { column: 'created_at', descending: false };
    default:
      throw new InvalidError(
        'sort must be last_message_at, -last_message_at, created_at or -created_at.',
      );
  }
}
