import { noMessages } from '../conversation-aggregates';
import type { ConversationRow } from '../conversation-row';
import type { NewMessage } from './new-message';

/** The row of a new conversation before any message is counted; subject and times come from the first one. */
export function newConversation(
  messages: readonly NewMessage[],
  first: NewMessage,
  now: number,
): ConversationRow {
  const described = messages
    .map((message) => message.conversation)
    .find(({ kind }) => kind === 'new');
  if (described?.kind !== 'new') throw new Error('a new conversation needs its description');
  const at = new Date(now).toISOString();
  return {
    ...noMessages(first.sortAt),
    id: described.id,
    mailbox_id: first.mailboxId,
    number: described.number,
    subject: first.subject,
    base_subject: first.baseSubject,
    status: 'open',
    disposition: described.disposition ?? 'normal',
    priority: 'normal',
    department_id: described.departmentId ?? null,
    assignee_type: null,
    assignee_id: null,
    assignee_name: null,
    labels: [...(described.labels ?? [])],
    snoozed_until: null,
    snooze_wake_on_reply: true,
    status_before_snooze: null,
    open_draft_id: null,
    open_approval_id: null,
    scheduled_count: 0,
    trust: null,
    merged_into_id: null,
    linked_conversation_id: described.linkedConversationId ?? null,
    metadata: {},
    // Imported conversations may begin resolved.
    resolved_at:
      described.status === 'resolved' || described.status === 'closed' ? first.sortAt : null,
    event_sequence: 0,
    version: 1,
    created_at: at,
    updated_at: at,
  };
}
