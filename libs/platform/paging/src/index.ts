export { decodeCursor, encodeCursor, type CursorPosition, type CursorScope } from './cursor';
export {
  DEFAULT_PER_PAGE,
  EXACT_TOTAL_LIMIT,
  MAX_PER_PAGE,
  pageRequest,
  toPage,
  type Page,
  type PageRequest,
} from './page';
export { jsonBytes, listPage, pageOf, pageWindow, type PageWindow } from './page-window';
