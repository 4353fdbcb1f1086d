import type { RouteDescription } from '@dak/gateway';
import type { ApiClient, ApiReply } from '@dak/testing/api-client';
import { idsIn, rewritten, textOf, type ForeignData } from './foreign-data';
import { missingId, routeName, send, type PlainRequest } from '../routes/plain-requests';

export interface MissVerdict {
  status: number;
  /** How the two replies differ; null when they tell nothing. */
  problem: string | null;
}

/**
 * Asks with ids of others and then with ids of nothing: the two replies must not tell which was which.
 * @param own ids in the request that are the caller's, and stay as they are
 */
export async function askLikeAMiss(
  client: ApiClient,
  route: RouteDescription,
  request: PlainRequest,
  seen: ForeignData,
  own: readonly string[],
): Promise<MissVerdict> {
  const reply = await send(client, route, request);
  seen.note(routeName(route), request, reply);
  const { status } = reply;
  const ids = idsIn(textOf(request)).filter((id) => !own.includes(id));
  if (ids.length === 0) return { status, problem: null };
  const missing = new Map(ids.map((id) => [id, missingId()]));
  const miss = await send(client, route, rewritten(request, missing));
  const back = new Map([...missing].map(([id, other]) => [other, id]));
  const [got, expected] = [said(reply, new Map()), said(miss, back)];
  return { status, problem: got === expected ? null : `${got} but for a miss ${expected}` };
}

/** Status and, of an error or a list, what it says. */
function said({ status, headers, body }: ApiReply, ids: ReadonlyMap<string, string>): string {
  const isTelling = status >= 400 || Array.isArray(body?.data) || Array.isArray(body?.results);
  let text = `${status} ${headers.get('x-error-code') ?? ''} ${isTelling ? JSON.stringify(body) : ''}`;
  for (const [from, to] of ids) text = text.replaceAll(from, to);
  return text;
}
