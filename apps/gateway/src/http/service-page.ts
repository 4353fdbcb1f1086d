import type { Page, PageRequest } from '@dak/contracts/mail';
import { pageRequest } from '@dak/platform/paging';
import { pageLinks } from './page-reply';
import type { RouteReply } from './route';

/** `page`, `per_page` and `cursor` as a service takes them. */
export interface PageQuery {
  page?: number | undefined;
  per_page?: number | undefined;
  cursor?: string | undefined;
}

/** @throws InvalidError when cursor and page are both given */
export function toPageRequest(query: PageQuery): PageRequest {
  const { page, perPage, cursor } = pageRequest(query);
  return { page: cursor === null ? page : 0, perPage, cursor: cursor ?? '' };
}

/** The reply to a request for a page of a list that a service keeps. */
export async function servicePage(
  { url, query }: { url: string; query: PageQuery },
  list: (page: PageRequest) => Promise<Page>,
): Promise<RouteReply> {
  return servicePageReply(url, query, await list(toPageRequest(query)));
}

const DATA = Buffer.from('{"data":');

/** The page envelope around records that the service has rendered; their bytes are not touched. */
export function servicePageReply(url: string, query: PageQuery, page: Page): RouteReply {
  const asked = pageRequest(query);
  const facts = {
    page: asked.page,
    per_page: asked.perPage,
    total: page.total,
    total_pages: Math.ceil(page.total / asked.perPage),
    has_more: page.hasMore,
    next_cursor: page.nextCursor === '' ? null : page.nextCursor,
    ...(page.totalIsEstimate ? { total_is_estimate: true } : {}),
  };
  const json = [DATA, page.dataJson, Buffer.from(`,${JSON.stringify(facts).slice(1)}`)];
  return { status: 200, json, headers: pageLinks(url, facts) };
}
