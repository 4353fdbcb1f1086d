import { decodeCursor, encodeCursor, pageRequest, toPage, type Page } from '@dak/platform/paging';

export interface ListQuery {
  page?: number | undefined;
  per_page?: number | undefined;
  cursor?: string | undefined;
}

/** Which rows to read: `take` of them after the id, or after `skip` rows. */
export interface Slice {
  take: number;
  skip: number;
  afterId: string | null;
}

/** A page of a list that is sorted by id. `read` may return one row more than a page has. */
export async function pageById<Row extends { id: string }, Item>(options: {
  organizationId: string;
  list: string;
  cursorKey: Uint8Array;
  query: ListQuery & Readonly<Record<string, unknown>>;
  read: (slice: Slice) => Promise<{ rows: Row[]; total: number }>;
  toItem: (row: Row) => Item;
}): Promise<Page<Item>> {
  const filter = { ...options.query, page: null, per_page: null, cursor: null };
  const scope = { organizationId: options.organizationId, list: options.list, filter };
  const request = pageRequest(options.query);
  const afterId =
    request.cursor === null
      ? null
      : String(decodeCursor(options.cursorKey, scope, request.cursor)[0]);
  const { rows, total } = await options.read({
    take: request.perPage + 1,
    skip: afterId === null ? (request.page - 1) * request.perPage : 0,
    afterId,
  });
  const shown = rows.slice(0, request.perPage);
  const last = shown.at(-1);
  const next =
    rows.length > request.perPage && last !== undefined
      ? encodeCursor(options.cursorKey, scope, [last.id])
      : null;
  return toPage(request, shown.map(options.toItem), total, next);
}
