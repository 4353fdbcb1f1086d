import type { Principal } from '@dak/kernel';
import type { PageWindow } from '@dak/platform/paging';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { ConversationFilter } from './conversation-filter';
import { foundMessages } from './found-messages-sql';
import { ListStatement } from './listed-conversations-sql';
import { planSearch, walkInstead, type SearchLimits, type SearchPlan } from './search-plan-sql';
import type { TextQuery } from './text-query';

export interface Hit {
  type: 'conversation' | 'message';
  id: string;
  conversation_id: string;
  mailbox_id: string;
  subject: string;
  preview: string;
  at: string;
  score: number;
  /** With `<mark>` around matches; the rest is HTML-escaped. */
  subject_mark: string;
  text_mark: string;
}

/** The newest that match are ranked; a search for a word that is everywhere has no best anyway. */
export const MOST_RANKED = 1_000;
const NEWEST_FIRST = { column: 'last_message_at', descending: true } as const;
/** So that the position in a cursor is the same number again. */
const SCORE_DIGITS = 6;

export interface FoundHits {
  hits: Hit[];
  total: { count: number; isEstimate: boolean };
}

/** @returns the hits of the page and one more, and how many there are; an estimate is at least that many */
export async function selectHits(
  tx: SqlExecutor,
  principal: Principal,
  query: TextQuery,
  filter: ConversationFilter,
  types: readonly Hit['type'][],
  window: PageWindow,
  limits?: SearchLimits,
): Promise<FoundHits> {
  const plan = await planSearch(tx, principal, query, filter, NEWEST_FIRST, limits);
  const { isCut, ...found } = await readHits(tx, principal, query, filter, types, window, plan);
  if (plan.kind === 'walk' || !isCut) return found;
  return readHits(tx, principal, query, filter, types, window, walkInstead(plan));
}

async function readHits(
  tx: SqlExecutor,
  principal: Principal,
  query: TextQuery,
  filter: ConversationFilter,
  types: readonly Hit['type'][],
  window: PageWindow,
  plan: SearchPlan,
): Promise<FoundHits & { isCut: boolean }> {
  const statement = new ListStatement(principal);
  const {
    before,
    rows: matches,
    isCut,
  } = foundMessages(statement, query, filter, NEWEST_FIRST, plan);
  const words = `${statement.add(query.text)}::tsquery`;
  const wanted = statement.add(types);
  const after =
    window.after === null
      ? 'true'
      : `(h.score, h.at, h.id) < (${statement.add(window.after[0])}::numeric, ${statement.add(window.after[1])}::timestamptz,
                                  ${statement.add(window.after[2])}::uuid)`;
  const escaped = (text: string) =>
    `replace(replace(replace(${text}, '&', '&amp;'), '<', '&lt;'), '>', '&gt;')`;
  const { rows } = await tx.query<Hit & { matched: number; total: number; is_cut: boolean }>(
    `with ${before}
          matches as materialized (${matches}),
          newest as materialized (
            select n.* from matches n order by n.sort_at desc, n.id desc limit ${MOST_RANKED}),
          found as materialized (
            select n.id, n.conversation_id, n.sort_at,
                   round(ts_rank(m.search, ${words})::numeric, ${SCORE_DIGITS}) as score
              from newest n
              join message m on m.organization_id = ${statement.organization} and m.id = n.id),
          hits as materialized (
            select 'message' as type, f.id, f.id as message_id, f.conversation_id, f.sort_at as at, f.score
              from found f where 'message' = any(${wanted}::text[])
             union all
            select 'conversation', b.conversation_id, b.id, b.conversation_id, b.sort_at, b.score
              from (select distinct on (f.conversation_id) f.*
                      from found f
                     where 'conversation' = any(${wanted}::text[])
                     order by f.conversation_id, f.score desc, f.sort_at desc, f.id) b),
          page as (
            select h.* from hits h where ${after}
             order by h.score desc, h.at desc, h.id desc
             limit ${window.perPage + 1} offset ${window.offset})
     select t.matched, t.total, t.is_cut, p.type, p.id, p.conversation_id, m.mailbox_id, m.subject, m.preview, p.at, p.score::float8 as score,
            ts_headline('simple', ${escaped('m.subject')}, ${words},
                        'StartSel=<mark>, StopSel=</mark>, HighlightAll=true') as subject_mark,
            ts_headline('simple', ${escaped("left(coalesce(m.text_new, m.body_text, ''), 20000)")}, ${words},
                        'StartSel=<mark>, StopSel=</mark>, MaxFragments=3, MaxWords=20, MinWords=5, FragmentDelimiter=" … "') as text_mark
       from (select (select count(*) from matches)::int as matched, (select count(*) from hits)::int as total,
                    ${isCut} as is_cut) t
       left join page p on true
       left join message m on m.organization_id = ${statement.organization} and m.id = p.message_id
      order by p.score desc, p.at desc, p.id desc`,
    statement.values,
  );
  return {
    hits: rows.filter((row) => row.id !== null),
    isCut: rows[0]?.is_cut === true,
    total: totalOf(
      rows[0]?.matched ?? 0,
      rows[0]?.total ?? 0,
      plan.kind === 'index' || plan.isComplete,
    ),
  };
}

/** Exact when everything that matches was found and ranked; else there are at least as many hits as messages that match. */
function totalOf(matched: number, hits: number, isComplete: boolean) {
  if (isComplete && matched <= MOST_RANKED) return { count: hits, isEstimate: false };
  return { count: Math.max(matched, hits), isEstimate: true };
}
