import { SYSTEM, uuidv7 } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { splitConversation } from '../split-conversation';
import type { Reattachment } from './attach-orphans';
import { connectedMessages } from './thread-groups';
import { selectMembers, upsertRefs, type MemberRow } from './thread-store';
import { foldSubject, sharedKeys, type LinkedMessage } from './threading';

/**
 * Takes messages out of their conversation that only hung on it by a parent they no longer have.
 * Only what that one attachment held together is parted; what people have merged stays.
 * @returns the new conversation of each message that was moved
 */
export async function detachOrphans(
  tx: SqlExecutor,
  organizationId: string,
  mailboxId: string,
  reattachments: readonly Reattachment[],
  takeNumber: () => number,
): Promise<Map<string, string>> {
  const moved = new Map<string, string>();
  const leaving = reattachments.filter(({ formerParentId }) => formerParentId !== null);
  for (const [conversationId, orphans] of Map.groupBy(leaving, (one) => one.conversationId)) {
    const members = await selectMembers(tx, organizationId, conversationId);
    for (const part of partsToMove(members, orphans)) {
      const newConversationId = uuidv7();
      const split = {
        conversationId,
        messageIds: part.map((message) => message.id),
        newConversationId,
        newNumber: takeNumber(),
      };
      await splitConversation(tx, organizationId, split, SYSTEM);
      for (const { id } of part) moved.set(id, newConversationId);
      const keys = part.flatMap(sharedKeys).filter((key) => !key.startsWith('own '));
      const refs = new Map(keys.map((key) => [key, newConversationId]));
      await upsertRefs(tx, organizationId, [{ mailboxId, refs }]);
    }
  }
  return moved;
}

/** Of each thread that falls apart, all parts except the one with a former parent. */
function partsToMove(
  rows: readonly MemberRow[],
  orphans: readonly Reattachment[],
): LinkedMessage[][] {
  const members = rows.map(toLinked);
  const byId = new Map(members.map((member) => [member.id, member]));
  const before = new Map(
    rows.flatMap((row) => (row.parent_id === null ? [] : [[row.message_id, row.parent_id]])),
  );
  const after = new Map(before);
  for (const { messageId } of orphans) after.delete(messageId);
  const groupBefore = indexOfGroup(connectedMessages(members, before));
  const groupsAfter = connectedMessages(members, after);
  const indexAfter = indexOfGroup(groupsAfter);

  const staying = new Set<number>();
  const touched = new Set<number>();
  for (const { messageId, formerParentId } of orphans) {
    const group = groupBefore.get(messageId);
    if (group === undefined || touched.has(group)) continue;
    touched.add(group);
    const home = indexAfter.get(formerParentId ?? messageId) ?? indexAfter.get(messageId);
    if (home !== undefined) staying.add(home);
  }
  return groupsAfter
    .filter((group, index) => !staying.has(index) && touched.has(groupBefore.get(group[0]!) ?? -1))
    .map((group) => group.map((id) => byId.get(id)!));
}

function indexOfGroup(groups: readonly string[][]): Map<string, number> {
  return new Map(groups.flatMap((group, index) => group.map((id) => [id, index] as const)));
}

function toLinked(row: MemberRow): LinkedMessage {
  return {
    id: row.message_id,
    messageId: row.message_id_header,
    inReplyTo: row.in_reply_to,
    references: row.reference_ids,
    threadIndexRoot: row.thread_index,
    subject: row.subject ?? foldSubject(row.base_subject),
    formerSubject: row.former_subject,
    isReplySubject: row.is_reply ?? true,
    evidence: { quotedWords: row.quoted_words ?? [] },
  };
}
