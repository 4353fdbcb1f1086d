import { pageRequest, type Page } from '@dak/platform/paging';
import type { RouteReply } from './route';

/** 200 with the page envelope and a `Link` header (RFC 8288) to the next and the previous page. */
export function pageReply(url: string, page: Page<unknown>): RouteReply {
  return { status: 200, body: page, headers: pageLinks(url, page) };
}

/** The `Link` header for a page whose JSON a service has already written. */
export function pageLinks(
  url: string,
  page: Pick<Page<unknown>, 'page' | 'has_more' | 'next_cursor'>,
): Record<string, string> {
  const question = url.indexOf('?');
  const path = question < 0 ? url : url.slice(0, question);
  const query = new URLSearchParams(question < 0 ? '' : url.slice(question + 1));
  const isByCursor = query.has('cursor');
  const links: string[] = [];
  if (page.has_more) {
    if (isByCursor && page.next_cursor !== null) query.set('cursor', page.next_cursor);
    else query.set('page', String(page.page + 1));
    links.push(`<${path}?${query.toString()}>; rel="next"`);
  }
  if (!isByCursor && page.page > 1) {
    query.set('page', String(page.page - 1));
    links.push(`<${path}?${query.toString()}>; rel="prev"`);
  }
  return links.length === 0 ? {} : { Link: links.join(', ') };
}

/** A page as a service answers it: the rows are JSON already. */
export interface ServicePage {
  dataJson: Uint8Array;
  total: number;
  totalIsEstimate: boolean;
  hasMore: boolean;
  /** Empty on the last page. */
  nextCursor: string;
}

const DATA = Buffer.from('{"data":');

/** As {@link pageReply}, without parsing the rows. `query` is the route's, with `pageFields`. */
export function servicePageReply(
  url: string,
  query: Parameters<typeof pageRequest>[0],
  answer: ServicePage,
): RouteReply {
  const { page, perPage } = pageRequest(query);
  const nextCursor = answer.nextCursor === '' ? null : answer.nextCursor;
  const rest =
    `,"page":${page},"per_page":${perPage},"total":${answer.total}` +
    `,"total_pages":${Math.ceil(answer.total / perPage)},"has_more":${answer.hasMore}` +
    `,"next_cursor":${JSON.stringify(nextCursor)}` +
    (answer.totalIsEstimate ? ',"total_is_estimate":true}' : '}');
  return {
    status: 200,
    json: Buffer.concat([DATA, answer.dataJson, Buffer.from(rest)]),
    headers: pageLinks(url, { page, has_more: answer.hasMore, next_cursor: nextCursor }),
  };
}

/** One record as a service answers it. */
export interface ServiceDocument {
  json: Uint8Array;
  /** 0 where the record is not versioned. */
  version: number;
  replayed: boolean;
}

export function documentReply(status: number, document: ServiceDocument): RouteReply {
  const reply: RouteReply = { status, json: document.json, replayed: document.replayed };
  if (document.version > 0) reply.version = document.version;
  return reply;
}
