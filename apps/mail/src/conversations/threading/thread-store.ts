import { createHash } from 'node:crypto';
import { insertOfRows, type SqlExecutor } from '@dak/platform/postgres';
import { storable } from '../../db/sql-parameters';
import type { ThreadMessage } from './threading';

/** A stored {@link ThreadMessage} that others may be attached to by subject or series, or that may be reattached. */
export interface StoredEvidence {
  message_id: string;
  conversation_id: string;
  subject: string;
  former_subject: string | null;
  message_id_header: string | null;
  is_reply: boolean;
  series: string | null;
  dated_at: string;
  content_hash: string;
  is_orphan: boolean;
  parent_id: string | null;
  parent_score: number;
  /** Id of the parent; null without one. */
  parent_dated_at: string | null;
  parent_content_hash: string | null;
  author: number;
  author_names: number[];
  correspondents: number[];
  mentioned: number[];
  own_words: number[];
  quoted_words: number[];
}

/** A stored message with a referenced Message-ID. */
export interface OwnerRow {
  conversation_id: string;
  message_id_header: string;
  base_subject: string;
}

/** Headers of all messages of a conversation, to see what holds it together. */
export interface MemberRow {
  message_id: string;
  message_id_header: string | null;
  in_reply_to: string | null;
  reference_ids: string[];
  base_subject: string;
  /** Null, as what follows, for outbound messages. */
  subject: string | null;
  former_subject: string | null;
  is_reply: boolean | null;
  thread_index: string | null;
  quoted_words: number[] | null;
  parent_id: string | null;
}

/** An outbound message that a reply without headers may answer. */
export interface OutboundRow {
  message_id: string;
  message_id_header: string | null;
  conversation_id: string;
  base_subject: string;
  sort_at: string;
  author: string;
  recipients: string[];
  body_text: string | null;
}

/** A conversation and where it went when it was merged. */
export interface ConversationState {
  origin: string;
  id: string;
  status: string;
  linked_conversation_id: string | null;
}

/** Further candidates of one subject are ignored: machines send thousands of similar mails. */
const MAX_CANDIDATES = 2000;

export function keyHash(key: string): Buffer {
  return createHash('sha256').update(key).digest().subarray(0, 16);
}

/**
 * One transaction at a time threads a mailbox: two workers could both make a conversation for one
 * thread. Held until the transaction ends; taken in one order.
 */
export async function lockMailboxesForThreading(
  tx: SqlExecutor,
  organizationId: string,
  mailboxIds: readonly string[],
): Promise<void> {
  await tx.query(
    `select pg_advisory_xact_lock(key)
       from (select hashtextextended($1 || ':' || mailbox_id, 1) as key
               from unnest($2::text[]) mailbox_id order by 1) keys`,
    [organizationId, [...mailboxIds]],
  );
}

export async function selectOwners(
  tx: SqlExecutor,
  organizationId: string,
  mailboxId: string,
  messageIds: readonly string[],
): Promise<OwnerRow[]> {
  if (messageIds.length === 0) return [];
  const { rows } = await tx.query<OwnerRow>(
    `select conversation_id, message_id_header, base_subject
       from message
      where organization_id = $1 and mailbox_id = $2 and message_id_header = any($3)`,
    [organizationId, mailboxId, messageIds],
  );
  return rows;
}

/** Conversations by key, for those of `keys` that are known. */
export async function selectRefs(
  tx: SqlExecutor,
  organizationId: string,
  mailboxId: string,
  keys: readonly string[],
): Promise<Map<string, string>> {
  if (keys.length === 0) return new Map();
  const byHash = new Map(keys.map((key) => [keyHash(key).toString('hex'), key]));
  const { rows } = await tx.query<{ hash: string; conversation_id: string }>(
    `select encode(r.ref_hash, 'hex') as hash, r.conversation_id
       from unnest($3::text[]) wanted
       join conversation_ref r on r.organization_id = $1 and r.mailbox_id = $2
                              and r.ref_hash = decode(wanted, 'hex')
       -- Retention leaves keys behind whose conversation is gone.
       join conversation c on c.organization_id = $1 and c.id = r.conversation_id`,
    [organizationId, mailboxId, [...byHash.keys()]],
  );
  return new Map(rows.map((row) => [byHash.get(row.hash)!, row.conversation_id]));
}

/** Threading facts stored for new messages of one mailbox. */
export interface ThreadMemory {
  mailboxId: string;
  /** Conversation by key. */
  refs: ReadonlyMap<string, string>;
  messages: readonly (ThreadMessage & { isOrphan: boolean })[];
  /** Evidence of orphans among the new messages. */
  parents: ReadonlyMap<string, EvidenceParent>;
  /** Evidence of stored orphans. */
  changedParents: ReadonlyMap<string, EvidenceParent>;
}

export interface EvidenceParent {
  parentId: string;
  score: number;
}

export async function upsertRefs(
  tx: SqlExecutor,
  organizationId: string,
  memories: readonly Pick<ThreadMemory, 'mailboxId' | 'refs'>[],
): Promise<void> {
  const rows = memories.flatMap(({ mailboxId, refs }) =>
    [...refs].map(([key, conversationId]) => ({ mailboxId, hash: keyHash(key), conversationId })),
  );
  if (rows.length === 0) return;
  await tx.query(
    `insert into conversation_ref as r (organization_id, mailbox_id, ref_hash, conversation_id)
     select $1, mailbox_id, decode(hash, 'hex'), conversation_id
       from unnest($2::uuid[], $3::text[], $4::uuid[]) as wanted(mailbox_id, hash, conversation_id)
         on conflict (organization_id, mailbox_id, ref_hash)
         do update set conversation_id = excluded.conversation_id`,
    [
      organizationId,
      rows.map((row) => row.mailboxId),
      rows.map((row) => row.hash.toString('hex')),
      rows.map((row) => row.conversationId),
    ],
  );
}

const EVIDENCE_COLUMNS = `e.message_id, m.conversation_id, m.message_id_header, e.subject, e.former_subject, e.is_reply, e.series, e.dated_at, e.content_hash, e.is_orphan,
  e.parent_id, e.parent_score, coalesce(p.dated_at, pm.sort_at) as parent_dated_at,
  coalesce(p.content_hash, pm.id::text) as parent_content_hash, e.author, e.author_names, e.correspondents,
  e.mentioned, e.own_words, e.quoted_words`;

/**
 * Stored messages that orphans among the new ones may be attached to (subjects of `wanted` with
 * `orphans`), and stored orphans that one of the new ones may be the better parent of, by their
 * subject or the one it was before.
 */
export async function selectEvidence(
  tx: SqlExecutor,
  organizationId: string,
  mailboxId: string,
  wanted: readonly EvidenceQuery[],
): Promise<StoredEvidence[]> {
  if (wanted.length === 0) return [];
  const { rows } = await tx.query<StoredEvidence>(
    `with wanted as (
       select *
         from json_to_recordset($3) as w(hash text, series boolean, orphans boolean, from_at timestamptz, to_at timestamptz))
     select ${EVIDENCE_COLUMNS}
       from (select distinct found.message_id
               from wanted w
              cross join lateral (
                     (select e.message_id from thread_evidence e
                       where not w.series
                         and e.organization_id = $1 and e.mailbox_id = $2 and e.subject_hash = decode(w.hash, 'hex')
                         and e.dated_at between w.from_at and w.to_at and (w.orphans or e.is_orphan)
                       order by e.dated_at desc
                       limit ${MAX_CANDIDATES})
                      union all
                     (select e.message_id from thread_evidence e
                       where not w.series and e.is_orphan
                         and e.organization_id = $1 and e.mailbox_id = $2 and e.former_subject_hash = decode(w.hash, 'hex')
                         and e.dated_at between w.from_at and w.to_at
                       limit ${MAX_CANDIDATES})
                      union all
                     (select e.message_id from thread_evidence e
                       where w.series
                         and e.organization_id = $1 and e.mailbox_id = $2 and e.series_hash = decode(w.hash, 'hex')
                         and e.dated_at between w.from_at and w.to_at and (w.orphans or e.is_orphan)
                       limit ${MAX_CANDIDATES})) found) found
       join thread_evidence e on e.organization_id = $1 and e.message_id = found.message_id
       join message m on m.organization_id = $1 and m.id = e.message_id
       left join thread_evidence p on p.organization_id = $1 and p.message_id = e.parent_id
       left join message pm on p.message_id is null and pm.organization_id = $1 and pm.id = e.parent_id`,
    [organizationId, mailboxId, JSON.stringify(wanted)],
  );
  return rows;
}

export interface EvidenceQuery {
  /** Hexadecimal hash of a subject or a series. */
  hash: string;
  series: boolean;
  /** False: only stored orphans are of interest. */
  orphans: boolean;
  /** RFC 3339 UTC. */
  from_at: string;
  to_at: string;
}

export function evidenceHash(text: string): string {
  return keyHash(text).subarray(0, 8).toString('hex');
}

/** Outbound messages are stored without evidence; their text is compared directly. */
export async function selectOutbound(
  tx: SqlExecutor,
  organizationId: string,
  mailboxId: string,
  baseSubjects: readonly string[],
  fromAt: string,
  toAt: string,
): Promise<OutboundRow[]> {
  if (baseSubjects.length === 0) return [];
  const { rows } = await tx.query<OutboundRow>(
    `select id as message_id, conversation_id, message_id_header, base_subject, sort_at,
            coalesce(from_address ->> 'email', '') as author,
            array(select r ->> 'email' from jsonb_array_elements(to_addresses || cc_addresses || bcc_addresses) r) as recipients,
            left(coalesce(text_new, body_text), 32000) as body_text
       from message
      where organization_id = $1 and mailbox_id = $2 and base_subject = any($3)
        and sort_at between $4 and $5 and direction = 'outbound'
      order by sort_at desc
      limit ${MAX_CANDIDATES}`,
    [organizationId, mailboxId, baseSubjects, fromAt, toAt],
  );
  return rows;
}

/** The conversations that `ids` lead to. */
export async function selectConversationStates(
  tx: SqlExecutor,
  organizationId: string,
  ids: readonly string[],
): Promise<ConversationState[]> {
  if (ids.length === 0) return [];
  const { rows } = await tx.query<ConversationState>(
    `with recursive chain as (
       select c.id as origin, c.id, c.merged_into_id, c.status, c.linked_conversation_id
         from conversation c where c.organization_id = $1 and c.id = any($2::uuid[])
        union all
       select chain.origin, c.id, c.merged_into_id, c.status, c.linked_conversation_id
         from chain join conversation c on c.organization_id = $1 and c.id = chain.merged_into_id)
     select origin, id, status, linked_conversation_id from chain where merged_into_id is null`,
    [organizationId, ids],
  );
  return rows;
}

/** The newest conversation that continues a closed one; null when there is none. */
export async function selectContinuation(
  tx: SqlExecutor,
  organizationId: string,
  conversationId: string,
): Promise<ConversationState | null> {
  const { rows } = await tx.query<ConversationState>(
    `select id as origin, id, status, linked_conversation_id
       from conversation
      where organization_id = $1 and linked_conversation_id = $2 and merged_into_id is null
      order by created_at desc, id desc
      limit 1`,
    [organizationId, conversationId],
  );
  return rows[0] ?? null;
}

/** True when people have taken these conversations apart: then they are not put together again. */
export async function werePartedByPeople(
  tx: SqlExecutor,
  organizationId: string,
  conversationIds: readonly string[],
): Promise<boolean> {
  const { rows } = await tx.query(
    `select 1
       from activity
      where organization_id = $1 and conversation_id = any($2::uuid[]) and type = 'split'
        and actor_type <> 'system'
        and coalesce(after ->> 'from_conversation_id', after ->> 'into_conversation_id') = any($3::text[])
      limit 1`,
    [organizationId, conversationIds, conversationIds],
  );
  return rows.length > 0;
}

export async function selectMembers(
  tx: SqlExecutor,
  organizationId: string,
  conversationId: string,
): Promise<MemberRow[]> {
  const { rows } = await tx.query<MemberRow>(
    `select m.id as message_id, m.message_id_header, m.in_reply_to, m.reference_ids,
            m.base_subject, e.subject, e.former_subject,
            e.is_reply, e.thread_index, e.quoted_words, e.parent_id
       from message m
       left join thread_evidence e on e.organization_id = m.organization_id and e.message_id = m.id
      where m.organization_id = $1 and m.conversation_id = $2`,
    [organizationId, conversationId],
  );
  return rows;
}

/** After the messages themselves. */
export async function insertEvidence(
  tx: SqlExecutor,
  organizationId: string,
  memories: readonly ThreadMemory[],
): Promise<void> {
  const rows = memories.flatMap(({ mailboxId, messages, parents }) =>
    messages.map((message) => ({
      organization_id: organizationId,
      message_id: message.id,
      mailbox_id: mailboxId,
      subject: message.subject,
      subject_hash: `\\x${evidenceHash(message.subject)}`,
      former_subject: message.formerSubject,
      former_subject_hash:
        message.formerSubject === null ? null : `\\x${evidenceHash(message.formerSubject)}`,
      is_reply: message.isReplySubject,
      series: message.series,
      series_hash: message.series === null ? null : `\\x${evidenceHash(message.series)}`,
      thread_index: message.threadIndexRoot,
      dated_at: new Date(message.datedAt).toISOString(),
      content_hash: message.contentHash,
      is_orphan: message.isOrphan,
      parent_id: parents.get(message.id)?.parentId ?? null,
      parent_score: parents.get(message.id)?.score ?? 0,
      author: message.evidence.author,
      author_names: message.evidence.authorNames,
      correspondents: message.evidence.correspondents,
      mentioned: message.evidence.mentioned,
      own_words: message.evidence.ownWords,
      quoted_words: message.evidence.quotedWords,
    })),
  );
  if (rows.length === 0) return;
  await tx.query(insertOfRows('thread_evidence', rows), [JSON.stringify(rows, storable)]);
}

export async function updateParents(
  tx: SqlExecutor,
  organizationId: string,
  memories: readonly ThreadMemory[],
): Promise<void> {
  const parents = memories.flatMap(({ changedParents }) => [...changedParents]);
  if (parents.length === 0) return;
  await tx.query(
    `update thread_evidence e set parent_id = p.parent_id, parent_score = p.score
       from unnest($2::uuid[], $3::uuid[], $4::integer[]) as p(message_id, parent_id, score)
      where e.organization_id = $1 and e.message_id = p.message_id`,
    [
      organizationId,
      parents.map(([id]) => id),
      parents.map(([, parent]) => parent.parentId),
      parents.map(([, parent]) => parent.score),
    ],
  );
}
