import { MAX_LABELS } from '@dak/contracts/api';
import { type Actor, InvalidError, NotFoundError } from '@dak/kernel';
import type { SqlExecutor } from '@dak/platform/postgres';
import { aggregate } from './conversation-aggregates';
import type { ConversationRow } from './conversation-row';
import {
  lockConversations,
  selectMessageFacts,
  type LockedConversation,
} from './conversation-store';
import { LEGAL_HOLD } from './legal-hold';
import { moveAllMessages } from './moved-message-store';
import { saveConversations, type ConversationChange } from './save-conversations';

/**
 * Merges conversations of one mailbox into the oldest of them (smallest created_at, id): it gets all
 * messages, labels and the most urgent status; the others stay as rows that point to it. Conversations
 * that were merged before count as where they went, so that merging twice changes nothing.
 * @returns the conversation that is left
 * @throws NotFoundError when one of them does not exist
 * @throws InvalidError when they belong to different mailboxes
 */
export async function mergeConversations(
  tx: SqlExecutor,
  organizationId: string,
  conversationIds: readonly string[],
  actor: Actor,
  reason: string,
  now: number = Date.now(),
): Promise<ConversationRow> {
  const rows = await lockTargets(tx, organizationId, conversationIds);
  const [kept, ...sources] = [...rows].sort(byAge);
  if (kept === undefined) throw new NotFoundError('conversation');
  if (sources.length === 0) return rowOf(kept);
  if (sources.some((source) => source.mailbox_id !== kept.mailbox_id)) {
    throw new InvalidError('source_ids must name conversations of the same mailbox.');
  }
  const sourceIds = sources.map((source) => source.id);
  await moveAllMessages(tx, organizationId, sourceIds, kept.id);
  const facts = await selectMessageFacts(tx, organizationId, [kept.id]);
  const before = rowOf(kept);
  const after: ConversationRow = {
    ...before,
    ...aggregate(facts, kept.created_at, kept.mailbox_address),
    ...mergedState(rows, kept),
  };
  const numbers = sources.map((source) => source.number);
  const changes: ConversationChange[] = [
    {
      before,
      after,
      reason: 'merged',
      actor,
      activity: [
        { type: 'merged', before: null, after: { source_ids: sourceIds, numbers }, reason },
      ],
    },
    ...sources.map((source): ConversationChange => {
      const old = rowOf(source);
      return {
        before: old,
        after: {
          ...old,
          merged_into_id: kept.id,
          message_count: 0,
          unread_count: 0,
          attachment_count: 0,
          size_bytes: 0,
          scheduled_count: 0,
          open_draft_id: null,
          system_labels: [],
        },
        reason: 'merged',
        actor,
        activity: [{ type: 'merged', before: null, after: { merged_into_id: kept.id }, reason }],
      };
    }),
  ];
  const [saved] = await saveConversations(tx, organizationId, changes, now);
  return saved!;
}

/** Follows earlier merges until every row is a living conversation; all of them locked. */
async function lockTargets(
  tx: SqlExecutor,
  organizationId: string,
  ids: readonly string[],
): Promise<LockedConversation[]> {
  const seen = new Map<string, LockedConversation>();
  let wanted = [...new Set(ids)];
  while (wanted.length > 0) {
    const rows = await lockConversations(tx, organizationId, wanted);
    for (const row of rows) seen.set(row.id, row);
    if (wanted.some((id) => !seen.has(id))) throw new NotFoundError('conversation');
    wanted = rows.flatMap(({ merged_into_id: id }) => (id !== null && !seen.has(id) ? [id] : []));
  }
  return [...seen.values()].filter((row) => row.merged_into_id === null);
}

/** Combined workflow state: open if any part is open, and spam only if all parts are. */
function mergedState(
  rows: readonly LockedConversation[],
  kept: LockedConversation,
): Partial<ConversationRow> {
  const urgency = ['open', 'pending', 'waiting', 'snoozed', 'resolved', 'closed'] as const;
  const mostUrgent = rows.reduce((a, b) =>
    urgency.indexOf(b.status) < urgency.indexOf(a.status) ? b : a,
  );
  const priorities = ['low', 'normal', 'high', 'urgent'] as const;
  const assigned = [kept, ...rows].find((row) => row.assignee_id !== null);
  return {
    status: mostUrgent.status,
    status_before_snooze: mostUrgent.status_before_snooze,
    snoozed_until: mostUrgent.snoozed_until,
    snooze_wake_on_reply: mostUrgent.snooze_wake_on_reply,
    resolved_at: mostUrgent.resolved_at,
    disposition: rows.some((row) => row.disposition === 'normal') ? 'normal' : kept.disposition,
    priority: priorities[Math.max(...rows.map((row) => priorities.indexOf(row.priority)))]!,
    labels: mergedLabels(rows),
    department_id:
      kept.department_id ?? rows.find((row) => row.department_id !== null)?.department_id ?? null,
    assignee_type: assigned?.assignee_type ?? null,
    assignee_id: assigned?.assignee_id ?? null,
    assignee_name: assigned?.assignee_name ?? null,
    open_draft_id: rows.find((row) => row.open_draft_id !== null)?.open_draft_id ?? null,
    scheduled_count: rows.reduce((sum, row) => sum + row.scheduled_count, 0),
    metadata: Object.fromEntries([...rows, kept].flatMap((row) => Object.entries(row.metadata))),
  };
}

/** As many as a conversation may have; what keeps mail from being removed is never the one too many. */
function mergedLabels(rows: readonly LockedConversation[]): string[] {
  const labels = [...new Set(rows.flatMap((row) => row.labels))];
  const held = labels.filter((name) => name === LEGAL_HOLD);
  return [...held, ...labels.filter((name) => name !== LEGAL_HOLD)].slice(0, MAX_LABELS);
}

function byAge(a: LockedConversation, b: LockedConversation): number {
  if (a.created_at !== b.created_at) return a.created_at < b.created_at ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}

function rowOf(row: LockedConversation): ConversationRow {
  const { mailbox_address, ...conversation } = row;
  return conversation;
}
