import type { SqlExecutor } from '@dak/platform/postgres';
import type { StoredCandidate } from './attach-orphans';
import { threadEvidence } from './thread-evidence';
import {
  evidenceHash,
  selectEvidence,
  selectOutbound,
  type EvidenceQuery,
  type OutboundRow,
  type StoredEvidence,
} from './thread-store';
import {
  SERIES_WINDOW_MS,
  SUBJECT_WINDOW_MS,
  ZONE_SKEW_MS,
  foldSubject,
  isOrphan,
  type ThreadMessage,
} from './threading';

/** The stored messages that take part in the choice of parents when these messages arrive. */
export async function selectCandidates(
  mailbox: { tx: SqlExecutor; organizationId: string; mailboxId: string; mailboxAddress: string },
  incoming: readonly { thread: ThreadMessage; baseSubject: string }[],
): Promise<StoredCandidate[]> {
  const { tx, organizationId, mailboxId } = mailbox;
  const evidence = await selectEvidence(
    tx,
    organizationId,
    mailboxId,
    evidenceQueries(incoming.map(({ thread }) => thread)),
  );
  const orphans = incoming.filter(({ thread }) => isOrphan(thread) && thread.subject !== '');
  const times = orphans.map(({ thread }) => thread.datedAt);
  const outbound =
    orphans.length === 0
      ? []
      : await selectOutbound(
          tx,
          organizationId,
          mailboxId,
          [...new Set(orphans.map(({ baseSubject }) => baseSubject))],
          new Date(Math.min(...times) - SUBJECT_WINDOW_MS).toISOString(),
          new Date(Math.max(...times) + ZONE_SKEW_MS).toISOString(),
        );
  return [
    ...evidence.map(evidenceCandidate),
    ...outbound.map((row) => outboundCandidate(row, mailbox.mailboxAddress)),
  ];
}

/** One query per subject and per series among the messages, over the widest time that any of them needs. */
function evidenceQueries(messages: readonly ThreadMessage[]): EvidenceQuery[] {
  const queries = new Map<string, EvidenceQuery & { from: number; to: number }>();
  const add = (text: string, series: boolean, orphans: boolean, from: number, to: number) => {
    const hash = evidenceHash(text);
    const known = queries.get(`${series} ${hash}`);
    queries.set(`${series} ${hash}`, {
      hash,
      series,
      orphans: orphans || (known?.orphans ?? false),
      from: Math.min(from, known?.from ?? from),
      to: Math.max(to, known?.to ?? to),
      from_at: '',
      to_at: '',
    });
  };
  for (const message of messages) {
    const { datedAt } = message;
    const orphan = isOrphan(message);
    const latest = datedAt + SUBJECT_WINDOW_MS;
    if (message.subject !== '') {
      const reach = orphan ? SUBJECT_WINDOW_MS : ZONE_SKEW_MS;
      add(message.subject, false, orphan, datedAt - reach, latest);
    }
    if (orphan && message.formerSubject !== null) {
      add(message.formerSubject, false, true, datedAt - SUBJECT_WINDOW_MS, latest);
    }
    if (message.series !== null) {
      add(message.series, true, orphan, datedAt - SERIES_WINDOW_MS, datedAt + SERIES_WINDOW_MS);
    }
  }
  return [...queries.values()].map(({ from, to, ...query }) => ({
    ...query,
    from_at: new Date(from).toISOString(),
    to_at: new Date(to).toISOString(),
  }));
}

function evidenceCandidate(row: StoredEvidence): StoredCandidate {
  return {
    conversationId: row.conversation_id,
    facts: {
      id: row.message_id,
      messageId: row.message_id_header,
      subject: row.subject,
      formerSubject: row.former_subject,
      isReplySubject: row.is_reply,
      series: row.series,
      datedAt: Date.parse(row.dated_at),
      contentHash: row.content_hash,
      isOrphan: row.is_orphan,
      isOutbound: false,
      evidence: {
        author: row.author,
        authorNames: row.author_names,
        correspondents: row.correspondents,
        mentioned: row.mentioned,
        ownWords: row.own_words,
        quotedWords: row.quoted_words,
      },
    },
    parent:
      row.parent_id === null
        ? null
        : {
            id: row.parent_id,
            score: row.parent_score,
            datedAt: Date.parse(row.parent_dated_at ?? row.dated_at),
            contentHash: row.parent_content_hash ?? '',
          },
  };
}

function outboundCandidate(row: OutboundRow, mailboxAddress: string): StoredCandidate {
  const [from, ...recipients] = [row.author, ...row.recipients].map((address) => ({
    address,
    name: '',
  }));
  return {
    conversationId: row.conversation_id,
    facts: {
      id: row.message_id,
      messageId: row.message_id_header,
      subject: foldSubject(row.base_subject),
      formerSubject: null,
      isReplySubject: false,
      series: null,
      datedAt: Date.parse(row.sort_at),
      contentHash: row.message_id,
      isOrphan: false,
      isOutbound: true,
      evidence: threadEvidence({
        from: [from!],
        recipients,
        impersonal: [mailboxAddress],
        text: row.body_text,
        textNew: row.body_text,
      }),
    },
    parent: null,
  };
}
