import { Search, SEARCH_TYPES, type SearchHitRecord } from '@dak/contracts/api';
import type { Page, SearchRequest } from '@dak/contracts/mail';
import { parseRequest } from '@dak/contracts/requests';
import type { CallContext } from '@dak/platform/grpc';
import { jsonBytes, pageOf, pageWindow } from '@dak/platform/paging';
import type { ConversationDeps } from '../conversation-deps';
import { conversationFilter } from './conversation-filter';
import { selectHits } from './search-store';
import { textQuery } from './text-query';

/**
 * The messages that match, the best first, and each conversation once, by its best message. Visibility
 * and filters are those of the list of conversations.
 */
export async function searchMail(
  { database, cursorKey }: Pick<ConversationDeps, 'database' | 'cursorKey'>,
  request: SearchRequest,
  { principal }: CallContext,
): Promise<Page> {
  const { organizationId } = principal;
  const { q: typed, types: asked = [] } = parseRequest(Search, {
    q: request.query,
    types: request.types,
  });
  const types =
    asked.length === 0 ? SEARCH_TYPES : SEARCH_TYPES.filter((type) => asked.includes(type));
  const filter = conversationFilter({ ...request.filter, query: undefined }, principal);
  const query = textQuery(typed);
  const scope = {
    organizationId,
    list: 'search',
    filter: { ...request.filter, q: typed, types: types.join(), user: principal.userId },
  };
  const window = pageWindow(cursorKey, scope, request.page);
  const { hits, total } =
    filter === null || query === null
      ? { hits: [], total: { count: 0, isEstimate: false } }
      : await database.inTenant(organizationId, (tx) =>
          selectHits(tx, principal, query, filter, types, window),
        );
  return pageOf(
    cursorKey,
    scope,
    window,
    hits,
    total,
    (shown) =>
      jsonBytes(
        shown.map((hit): SearchHitRecord => ({
          type: hit.type,
          id: hit.id,
          conversation_id: hit.conversation_id,
          mailbox_id: hit.mailbox_id,
          subject: hit.subject,
          preview: hit.preview,
          at: hit.at,
          score: hit.score,
          highlights: highlights(hit),
        })),
      ),
    (hit) => [hit.score, hit.at, hit.id],
  );
}

/** Only the fields in which something was found. */
function highlights(hit: { subject_mark: string; text_mark: string }): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  if (hit.subject_mark.includes('<mark>')) found['subject'] = [hit.subject_mark];
  const fragments = hit.text_mark.split(' … ').filter((fragment) => fragment.includes('<mark>'));
  if (fragments.length > 0) found['text'] = fragments;
  return found;
}
