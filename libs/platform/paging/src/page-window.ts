import type { Page, PageRequest } from '@dak/contracts/mail';
import { InvalidError } from '@dak/kernel';
import { decodeCursor, encodeCursor, type CursorPosition, type CursorScope } from './cursor';
import { DEFAULT_PER_PAGE, MAX_PER_PAGE } from './page';

/** Which rows of a list to read: from `offset`, or after the row at `after`. */
export interface PageWindow {
  perPage: number;
  offset: number;
  after: CursorPosition | null;
}

/** @throws InvalidError when the cursor is not one of this list, or page and cursor are both given */
export function pageWindow(
  cursorKey: Uint8Array,
  scope: CursorScope,
  request: PageRequest | undefined,
): PageWindow {
  const perPage = request?.perPage || DEFAULT_PER_PAGE;
  if (perPage < 1 || perPage > MAX_PER_PAGE) {
    throw new InvalidError(`per_page must be an integer from 1 to ${MAX_PER_PAGE}.`);
  }
  const page = request?.page ?? 0;
  if (request !== undefined && request.cursor !== '') {
    if (page > 0) throw new InvalidError('cursor and page exclude each other: send one of them.');
    return { perPage, offset: 0, after: decodeCursor(cursorKey, scope, request.cursor) };
  }
  return { perPage, offset: Math.max(0, page - 1) * perPage, after: null };
}

/** The page; `rows` may hold one extra, which shows that there is a next page. */
export function pageOf<Row>(
  cursorKey: Uint8Array,
  scope: CursorScope,
  window: PageWindow,
  rows: readonly Row[],
  total: { count: number; isEstimate: boolean },
  render: (rows: readonly Row[]) => Buffer,
  positionOf: (row: Row) => CursorPosition,
): Page {
  const shown = rows.length > window.perPage ? rows.slice(0, window.perPage) : rows;
  const hasMore = rows.length > window.perPage;
  const last = shown.at(-1);
  return {
    dataJson: render(shown),
    total: total.count,
    totalIsEstimate: total.isEstimate,
    hasMore,
    nextCursor:
      hasMore && last !== undefined ? encodeCursor(cursorKey, scope, positionOf(last)) : '',
  };
}

/** A list whose rows the service counts. */
export interface CountedList<Row> {
  readonly scope: CursorScope;
  /** `limit` is one more than fits on the page, which tells whether there is a next one. */
  readonly select: (
    window: Pick<PageWindow, 'offset' | 'after'> & { limit: number },
  ) => Promise<{ rows: readonly Row[]; total: number }>;
  readonly recordOf: (row: Row) => unknown;
  readonly positionOf: (row: Row) => CursorPosition;
}

/** The page that was asked for. @throws InvalidError as {@link pageWindow} does */
export async function listPage<Row>(
  cursorKey: Uint8Array,
  request: PageRequest | undefined,
  { scope, select, recordOf, positionOf }: CountedList<Row>,
): Promise<Page> {
  const window = pageWindow(cursorKey, scope, request);
  const { offset, after, perPage } = window;
  const { rows, total } = await select({ limit: perPage + 1, offset, after });
  return pageOf(
    cursorKey,
    scope,
    window,
    rows,
    { count: total, isEstimate: false },
    (shown) => jsonBytes(shown.map((row) => recordOf(row))),
    positionOf,
  );
}

export function jsonBytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value), 'utf8');
}
