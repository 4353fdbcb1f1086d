import { seesWholeOrganization, type Principal } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { ConversationFilter } from './conversation-filter';
import {
  firstListed,
  ListStatement,
  visibleMailboxes,
  type ConversationSort,
} from './listed-conversations-sql';
import { quotedLexeme } from './search-words';
import type { TextQuery } from './text-query';

/**
 * How a search reads: `walk` tests the messages of the first conversations of the list, `index` asks the
 * inverted index. Whichever it is, it finds only conversations that the caller sees and the filter passes.
 */
export type SearchPlan =
  | {
      kind: 'walk';
      /** Conversations to walk through. */
      most: number;
      /** These are all; else the words are so common that the first ones are enough. */
      isComplete: boolean;
      /** Share of the examined conversations that have the words. */
      share: number;
    }
  | {
      kind: 'index';
      /** Text of the tsquery that the index is asked for. */
      indexed: string;
      /** Text of the tsquery that is tested on what it finds; null = `indexed` says it all. */
      whole: string | null;
      /** Messages that it may find; at this many, {@link walkInstead}. */
      most: number;
      share: number;
    };

type IndexPlan = Extract<SearchPlan, { kind: 'index' }>;
export type WalkPlan = Extract<SearchPlan, { kind: 'walk' }>;

export interface SearchLimits {
  /** Conversations of which the messages are tested to learn how common the words are. */
  probed: number;
  /** A list of up to this many conversations, with up to this many messages, is walked. */
  complete: number;
  completeMessages: number;
  /** Words in this share of the messages at least are common. */
  common: number;
  /** Conversations to walk through for common words. */
  walked: number;
  /** Messages that are taken from the index. */
  found: number;
}

/**
 * Measured with 1,000,000 messages: testing a message takes 5-50 µs, so 300 conversations some 10 ms; a
 * word in every message takes the index 50 ms, as the beginning of words 285 ms, and in the walk 15 ms.
 */
export const SEARCH_LIMITS: SearchLimits = {
  probed: 300,
  complete: 500,
  completeMessages: 5_000,
  common: 0.05,
  walked: 1_000,
  found: 100_000,
};

/** More conversations than these are not walked through for one page. */
export const MOST_WALKED = 20_000;

/** Messages of one conversation that are tested where not all have to be. */
export const NEWEST_OF_CONVERSATION = 50;
/** Rarer words find less by themselves than together with one that is in a fifth of the messages. */
const TOO_COMMON_FOR_INDEX = 0.2;
/** More mailboxes than these are filtered after the index and not in it. */
const MOST_MAILBOXES = 64;

interface Probe {
  conversations: number;
  messages: number;
  probed: number;
  with_words: number;
  tested: number;
  found: number;
  /** Messages with each of the terms. */
  by_term: number[];
  /** null = more than fit, or all of the organization. */
  mailboxes: string[] | null;
}

/** Looks at the first conversations of the list and decides how to search it. */
export async function planSearch(
  tx: SqlExecutor,
  principal: Principal,
  query: TextQuery,
  filter: ConversationFilter,
  sort: ConversationSort,
  limits: SearchLimits = SEARCH_LIMITS,
): Promise<SearchPlan> {
  const probe = await takeProbe(tx, principal, query, filter, sort, limits);
  const share = probe.probed === 0 ? 0 : probe.with_words / probe.probed;
  if (probe.conversations <= limits.complete && probe.messages <= limits.completeMessages) {
    return { kind: 'walk', most: limits.complete, isComplete: true, share };
  }
  if (probe.found >= limits.common * probe.tested) {
    return { kind: 'walk', most: limits.walked, isComplete: false, share };
  }
  return { kind: 'index', ...indexQuery(query, probe), most: limits.found, share };
}

/**
 * For an index that has found more than fit, in no order: rare in the first conversations of the list and
 * many all the same, in a large organization or in mailboxes that are not the caller's. The first
 * {@link MOST_WALKED} conversations are searched then.
 */
export function walkInstead({ share }: IndexPlan): WalkPlan {
  return { kind: 'walk', most: MOST_WALKED, isComplete: false, share };
}

/** The rarest words, and the mailboxes; the other words are tested on the results. */
export function indexQuery(
  { text, terms }: TextQuery,
  { by_term: counts, tested, mailboxes }: Pick<Probe, 'by_term' | 'tested' | 'mailboxes'>,
): { indexed: string; whole: string | null } {
  const positive = terms
    .map((term, i) => ({ term, count: counts[i] ?? 0 }))
    .filter(({ term }) => !term.startsWith('!'))
    .sort((a, b) => a.count - b.count);
  const chosen = positive.filter(
    ({ count }, i) => i === 0 || count < TOO_COMMON_FOR_INDEX * tested,
  );
  const places =
    mailboxes === null || mailboxes.length === 0
      ? []
      : [`(${mailboxes.map((id) => quotedLexeme(`@${id}`)).join(' | ')})`];
  const parts = [...places, ...chosen.map(({ term }) => term)];
  const isWhole = chosen.length === terms.length;
  return {
    // Nothing but what must not occur, anywhere: all of the organization is tested.
    indexed: parts.length === 0 ? text : parts.join(' & '),
    whole: isWhole || parts.length === 0 ? null : text,
  };
}

async function takeProbe(
  tx: SqlExecutor,
  principal: Principal,
  query: TextQuery,
  filter: ConversationFilter,
  sort: ConversationSort,
  limits: SearchLimits,
): Promise<Probe> {
  const statement = new ListStatement(principal);
  const { organization } = statement;
  const direction = sort.descending ? 'desc' : 'asc';
  const { visible, heads } = firstListed(statement, filter, sort, limits.complete + 1, null);
  const words = `${statement.add(query.text)}::tsquery`;
  const byTerm = query.terms.map(
    (term) => `count(*) filter (where e.search @@ ${statement.add(term)}::tsquery)`,
  );
  const { rows } = await tx.query<Probe>(
    `with ${visible}
          listed as materialized (
            select h.id, h.at from (${heads}) h
             order by h.at ${direction}, h.id ${direction}
             limit ${limits.complete + 1}),
          probed as materialized (
            select l.id from listed l order by l.at ${direction}, l.id ${direction} limit ${limits.probed}),
          tested as materialized (
            select m.conversation_id, m.search
              from probed p
             cross join lateral (
                   select m.conversation_id, m.search
                     from message m
                    where m.organization_id = ${organization} and m.conversation_id = p.id
                    order by m.sort_at desc, m.id desc
                    limit ${NEWEST_OF_CONVERSATION}) m)
     select (select count(*) from listed)::int as conversations,
            (select count(*) from probed)::int as probed,
            (select coalesce(sum(c.message_count), 0)
               from listed l
               join conversation c on c.organization_id = ${organization} and c.id = l.id)::int as messages,
            count(*)::int as tested,
            count(*) filter (where e.search @@ ${words})::int as found,
            count(distinct e.conversation_id) filter (where e.search @@ ${words})::int as with_words,
            array[${byTerm.join(', ')}]::int[] as by_term,
            ${mailboxesSql(statement, filter)} as mailboxes
       from tested e`,
    statement.values,
  );
  return rows[0]!;
}

/** The mailboxes with conversations the caller may see: assigned ones, and those with conversations of their departments. */
function mailboxesSql(statement: ListStatement, filter: ConversationFilter): string {
  const { principal, organization } = statement;
  if (filter.mailboxId !== null) return `array[${statement.add(filter.mailboxId)}::uuid]`;
  if (seesWholeOrganization(principal)) return 'null::uuid[]';
  const ofDepartments =
    principal.departmentIds.length === 0
      ? ''
      : `union select t.mailbox_id from conversation_tally t
                where t.organization_id = ${organization} and t.conversations > 0
                  and t.department_id = any(${statement.add(principal.departmentIds)}::uuid[])`;
  return `(select case when count(*) <= ${MOST_MAILBOXES} then array_agg(v.id) end
             from (${visibleMailboxes(statement, filter)} ${ofDepartments}) v)`;
}
