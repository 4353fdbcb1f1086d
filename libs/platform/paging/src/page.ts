import { InvalidError } from '@dak/kernel';

export const DEFAULT_PER_PAGE = 25;
export const MAX_PER_PAGE = 100;
/** Totals are counted exactly up to here; beyond it `total_is_estimate` is set. */
export const EXACT_TOTAL_LIMIT = 10_000;

/** One page of a list, as every list route answers it. */
export interface Page<T> {
  data: T[];
  page: number;
  per_page: number;
  total: number;
  total_pages: number;
  has_more: boolean;
  next_cursor: string | null;
  total_is_estimate?: true;
}

/** What the caller asked for; `cursor` and `page` exclude each other. */
export interface PageRequest {
  page: number;
  perPage: number;
  cursor: string | null;
}

/** @throws InvalidError when both `cursor` and `page` were sent */
export function pageRequest(query: {
  page?: number | undefined;
  per_page?: number | undefined;
  cursor?: string | undefined;
}): PageRequest {
  if (query.cursor !== undefined && query.page !== undefined) {
    throw new InvalidError('cursor and page exclude each other: send one of them.');
  }
  return {
    page: query.page ?? 1,
    perPage: query.per_page ?? DEFAULT_PER_PAGE,
    cursor: query.cursor ?? null,
  };
}

/**
 * Builds the envelope.
 * @param rows at most `perPage` rows
 * @param total rows in all, or any number above {@link EXACT_TOTAL_LIMIT} for "at least this many"
 * @param nextCursor null on the last page
 */
export function toPage<T>(
  request: PageRequest,
  rows: T[],
  total: number,
  nextCursor: string | null,
): Page<T> {
  const page: Page<T> = {
    data: rows,
    page: request.page,
    per_page: request.perPage,
    total,
    total_pages: Math.ceil(total / request.perPage),
    has_more: nextCursor !== null,
    next_cursor: nextCursor,
  };
  if (total > EXACT_TOTAL_LIMIT) page.total_is_estimate = true;
  return page;
}
