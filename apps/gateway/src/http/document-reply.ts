import type { Document } from '@dak/contracts/mail';
import type { RouteReply } from './route';

/** One record as the service has rendered it; records that are not versioned have version 0. */
export function documentReply(
  status: 200 | 201 | 202,
  { json, version, replayed }: Document,
): RouteReply {
  return { status, json, replayed, ...(version > 0 ? { version } : {}) };
}
