import type { Page } from '@dak/platform/paging';
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
