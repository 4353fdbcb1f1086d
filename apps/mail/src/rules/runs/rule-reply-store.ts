import type { SqlExecutor } from '@dak/platform/postgres';
import { REPLY_INTERVAL_DAYS } from './automatic-mail';

export interface ReplyKey {
  readonly ruleId: string;
  /** Address in lower case. */
  readonly sender: string;
  readonly conversationId: string;
}

export interface RecentReplies {
  /** In this conversation, within {@link REPLY_INTERVAL_DAYS}. */
  readonly inConversation: boolean;
  /** To this sender within 24 hours. */
  readonly today: number;
}

/** A rule's recent replies to a sender. */
export async function selectRecentReplies(
  tx: SqlExecutor,
  organizationId: string,
  { ruleId, sender, conversationId }: ReplyKey,
): Promise<RecentReplies> {
  const { rows } = await tx.query<{ in_conversation: boolean; today: number }>(
    `select coalesce(bool_or(conversation_id = $4), false) as in_conversation,
            count(*) filter (where sent_at > now() - interval '24 hours') as today
       from rule_reply
      where organization_id = $1 and rule_id = $2 and sender = $3
        and sent_at > now() - make_interval(days => ${REPLY_INTERVAL_DAYS})`,
    [organizationId, ruleId, sender, conversationId],
  );
  return { inConversation: rows[0]!.in_conversation, today: rows[0]!.today };
}

export async function rememberReplies(
  tx: SqlExecutor,
  organizationId: string,
  replies: readonly ReplyKey[],
  at: string,
): Promise<void> {
  if (replies.length === 0) return;
  await tx.query(
    `insert into rule_reply (organization_id, rule_id, sender, conversation_id, sent_at)
     select $1, r.rule_id, r.sender, r.conversation_id, $5
       from unnest($2::uuid[], $3::text[], $4::uuid[]) as r(rule_id, sender, conversation_id)
         on conflict (organization_id, rule_id, sender, conversation_id) do update set sent_at = excluded.sent_at`,
    [
      organizationId,
      replies.map((reply) => reply.ruleId),
      replies.map((reply) => reply.sender),
      replies.map((reply) => reply.conversationId),
      at,
    ],
  );
}
