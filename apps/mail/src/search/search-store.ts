import type { Principal } from '@dak/kernel';
import type { PageWindow } from '@dak/platform/paging';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { ConversationFilter } from '../conversations/conversation-filter';
import { conversationConditions } from '../conversations/conversation-page-sql';

export interface Hit {
  type: 'conversation' | 'message';
  id: string;
  conversation_id: string;
  mailbox_id: string;
  subject: string;
  preview: string;
  at: string;
  score: number;
  /** With `<mark>` around what was found; the rest is escaped for HTML. */
  subject_mark: string;
  text_mark: string;
}

/** Messages that are looked at to find the best; a search for a word that is everywhere has no best anyway. */
const MOST_MESSAGES = 10_001;
/** So that the position in a cursor is the same number again. */
const SCORE_DIGITS = 6;

/** @param query text of a tsquery */
export async function selectHits(
  tx: SqlExecutor,
  principal: Principal,
  query: string,
  filter: ConversationFilter,
  types: readonly Hit['type'][],
  window: PageWindow,
): Promise<{ hits: Hit[]; total: number }> {
  const { statement, conditions } = conversationConditions(principal, filter);
  const words = `${statement.add(query)}::tsquery`;
  const wanted = statement.add(types);
  const after =
    window.after === null
      ? 'true'
      : `(h.score, h.at, h.id) < (${statement.add(window.after[0])}::numeric, ${statement.add(window.after[1])}::timestamptz,
                                  ${statement.add(window.after[2])}::uuid)`;
  const escaped = (text: string) =>
    `replace(replace(replace(${text}, '&', '&amp;'), '<', '&lt;'), '>', '&gt;')`;
  const { rows } = await tx.query<Hit & { total: number }>(
    `with found as materialized (
            select s.id, s.conversation_id, s.sort_at, round(s.rank::numeric, ${SCORE_DIGITS}) as score
              from search_messages(${words}, ${MOST_MESSAGES}) s
              join conversation c on c.organization_id = ${statement.organization} and c.id = s.conversation_id
             where ${conditions.join(' and ')}),
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
     select t.total, p.type, p.id, p.conversation_id, m.mailbox_id, m.subject, m.preview, p.at, p.score::float8 as score,
            ts_headline('simple', ${escaped('m.subject')}, ${words},
                        'StartSel=<mark>, StopSel=</mark>, HighlightAll=true') as subject_mark,
            ts_headline('simple', ${escaped("left(coalesce(m.text_new, m.body_text, ''), 20000)")}, ${words},
                        'StartSel=<mark>, StopSel=</mark>, MaxFragments=3, MaxWords=20, MinWords=5, FragmentDelimiter=" … "') as text_mark
       from (select count(*) as total from hits) t
       left join page p on true
       left join message m on m.organization_id = ${statement.organization} and m.id = p.message_id
      order by p.score desc, p.at desc, p.id desc`,
    statement.values,
  );
  return {
    hits: rows.filter((row) => row.id !== null),
    total: rows[0]?.total ?? 0,
  };
}
