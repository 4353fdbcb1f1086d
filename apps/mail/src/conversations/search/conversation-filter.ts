import { CONVERSATION_STATUSES, DISPOSITIONS } from '@dak/contracts/api';
import type { ConversationFilter as RequestFilter } from '@dak/contracts/mail';
import { InvalidError, isUuid, type Principal } from '@dak/kernel';
import type { ConversationStatus, Disposition } from '../conversation-row';

/** What a list of conversations is narrowed to; null = not narrowed. */
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
  const statuses = listed(CONVERSATION_STATUSES, request?.status);
  const dispositions = listed(DISPOSITIONS, request?.disposition);
  if (statuses?.length === 0 || dispositions?.length === 0) return null;
  return {
    mailboxId: uuidOrNull('mailbox', request?.mailboxId),
    statuses,
    dispositions:
      dispositions ?? (request?.disposition === undefined ? SHOWN_BY_DEFAULT : [...DISPOSITIONS]),
    departmentId: uuidOrNull('department', request?.departmentId),
    assignee: assigneeOf(request?.assignee, principal),
    label: request?.label ?? null,
    query: request?.query?.trim() || null,
    before: timeOrNull('before', request?.before),
    after: timeOrNull('after', request?.after),
  };
}

/** One name, a comma list, or `all`. Null = all of them; names that do not exist are left out. */
function listed<T extends string>(known: readonly T[], text: string | undefined): T[] | null {
  if (text === undefined || text === '' || text === 'all') return null;
  const names = text.split(',').map((name) => name.trim());
  return names.includes('all') ? null : known.filter((name) => names.includes(name));
}

function uuidOrNull(field: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  if (!isUuid(text)) throw new InvalidError(`${field} must be a UUID.`);
  return text;
}

function assigneeOf(text: string | undefined, principal: Principal): string | null {
  if (text === undefined) return null;
  if (text === 'me') return principal.userId;
  if (text === 'none' || isUuid(text)) return text;
  throw new InvalidError('assignee must be me, none or a UUID.');
}

function timeOrNull(field: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new InvalidError(`${field} must be an RFC 3339 date-time.`);
  return new Date(time).toISOString();
}
