import { z } from 'zod';
import { MAX_PER_PAGE } from '@dak/platform/paging';
import { Search, SearchHitRecord } from '@dak/contracts/api';
import { defineRoute, pageFields, pageOf, type Route } from '../http';
import { servicePageReply, toPageRequest } from '../http/service-page';
import { toConversationFilter } from './conversation-filter';
import type { MailClients } from './mail-clients';

const MAX_PAGE = 10_000_000;

const hit = SearchHitRecord.meta({ id: 'SearchHit' });

const searchBody = Search.extend({
  page: z.int().min(1).max(MAX_PAGE).optional(),
  per_page: z.int().min(1).max(MAX_PER_PAGE).optional(),
  cursor: pageFields.cursor,
}).meta({ id: 'Search' });

export function searchRoutes({ conversations }: Pick<MailClients, 'conversations'>): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/search',
      tag: 'search',
      summary: 'Search mail',
      description: 'Paging parameters may be sent in the body or in the query.',
      rateClass: 'read',
      idempotency: 'none',
      request: { query: z.object(pageFields), body: searchBody },
      responses: {
        200: { description: 'A page of hits, best match first', schema: pageOf(hit) },
      },
      handler: async ({ query, body, call, url }) => {
        const paging = {
          page: body.page ?? query.page,
          per_page: body.per_page ?? query.per_page,
          cursor: body.cursor ?? query.cursor,
        };
        const request = {
          page: toPageRequest(paging),
          query: body.q,
          filter: toConversationFilter(body.filters ?? {}),
          types: body.types ?? [],
        };
        const answer = await conversations.search(request, call);
        // Without the Link header: a link cannot carry the body that asks for the next page.
        const { json } = servicePageReply(url, paging, answer);
        return { status: 200, json: json! };
      },
    }),
  ];
}
