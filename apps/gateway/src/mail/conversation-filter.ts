import type { ConversationFilter } from '@dak/contracts/api';
import type { ConversationFilter as FilterMessage } from '@dak/contracts/mail';

export function toConversationFilter(filter: ConversationFilter, query?: string): FilterMessage {
  const { mailbox, status, label, department, assignee, disposition, before, after } = filter;
  const ids = { mailboxId: mailbox, departmentId: department };
  return { ...ids, status, query, label, assignee, disposition, before, after };
}
