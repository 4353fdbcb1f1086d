import {
  CONVERSATION_STATUSES,
  ConversationFilter as FilterFields,
  DISPOSITIONS,
} from '@dak/contracts/api';
import type { ConversationFilter as RequestFilter } from '@dak/contracts/mail';
import { parseRequest } from '@dak/contracts/requests';
import type { Principal } from '@dak/kernel';
import type { ConversationStatus, Disposition } from '../conversation-row';

/** Filters of a list of conversations; null = no filter. */
export interface ConversationFilter {
  mailboxId: string | null;
  statuses: ConversationStatus[] | null;
  dispositions: Disposition[];
  departmentId: string | null;
  /** A user or agent id, or `none`. */
  assignee: string | null;
  label: string | null;
  query: string | null;
  /** RFC 3339, on last_message_at. */
  before: string | null;
  after: string | null;
}

/** Spam and trash show only when asked for. */
const SHOWN_BY_DEFAULT: Disposition[] = ['normal', 'quarantined'];

/**
 * @returns null when nothing can match (an unknown status or disposition is not an error)
 * @throws InvalidError when an id or a time is malformed
 */
export function conversationFilter(
  request: RequestFilter | undefined,
  principal: Principal,
): ConversationFilter | null {
  const { mailbox, status, label, department, assignee, disposition, before, after } = parseRequest(
    FilterFields,
    { ...request, mailbox: request?.mailboxId, department: request?.departmentId },
  );
  const statuses = listed(CONVERSATION_STATUSES, status);
  const dispositions = listed(DISPOSITIONS, disposition);
  if (statuses?.length === 0 || dispositions?.length === 0) return null;
  return {
    mailboxId: mailbox ?? null,
    statuses,
    dispositions:
      dispositions ?? (disposition === undefined ? SHOWN_BY_DEFAULT : [...DISPOSITIONS]),
    departmentId: department ?? null,
    assignee: assignee === 'me' ? principal.userId : (assignee ?? null),
    label: label ?? null,
    query: request?.query?.trim() || null,
    before: before === undefined ? null : new Date(before).toISOString(),
    after: after === undefined ? null : new Date(after).toISOString(),
  };
}

/** One name, a comma list, or `all`. Null = all of them; names that do not exist are left out. */
function listed<T extends string>(known: readonly T[], text: string | undefined): T[] | null {
  if (text === undefined || text === '' || text === 'all') return null;
  const names = text.split(',').map((name) => name.trim());
  return names.includes('all') ? null : known.filter((name) => names.includes(name));
}
