import { ChangedConversations, type BulkResultRecord } from '@dak/contracts/api';
import type { ChangeConversationsRequest, Document } from '@dak/contracts/mail';
import { parseRequest } from '@dak/contracts/requests';
import { actorOf, DomainError, type ErrorKind, InvalidError, type Principal } from '@dak/kernel';
import type { CallContext } from '@dak/platform/grpc';
import { idempotent } from '@dak/platform/idempotency';
import { jsonBytes } from '@dak/platform/paging';
import type { SqlExecutor } from '@dak/platform/postgres';
import type { Decision } from '../change-conversation';
import type { ConversationDeps } from '../conversation-deps';
import type { ConversationRow } from '../conversation-row';
import { requireDepartmentAccess } from '../department-access';
import { requireMayRelease } from '../legal-hold';
import { saveConversations, type ConversationChange } from '../save-conversations';
import { loadConversation } from '../visible-conversation-store';
import { decideAssignment, decideLabels, decideSnooze, decideUnsnooze } from './decide-changes';
import { decideUpdate } from './decide-update';
import { markRead } from './mark-read';
import { parseAssignment, parseLabels, parseSnooze, parseUpdate } from './parse-changes';

/** The status that the single change would have had (HTTP, as the bulk result shows it). */
const STATUS_OF: Partial<Record<ErrorKind, number>> = {
  invalid: 400,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  precondition_failed: 412,
  refused: 422,
};

/** One action on many conversations, in one transaction; a refusal of one does not stop the others. */
export async function changeConversations(
  { database, clock }: ConversationDeps,
  request: ChangeConversationsRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { ids } = parseRequest(ChangedConversations, request);
  const decide = decisionOf(request);
  return database.inTenant(principal.organizationId, (tx) =>
    idempotent(tx, context, async () => {
      const now = clock();
      const changes: ConversationChange[] = [];
      const results = new Map<string, BulkResultRecord['results'][number]>();
      // In one order, so that two bulk changes do not wait for each other crosswise.
      for (const id of [...ids].sort()) {
        try {
          const before = await loadConversation(tx, principal, id, 'write', { lock: true });
          const decision = await decide(tx, principal, before, now);
          changes.push({ before, ...decision, actor: actorOf(principal) });
          results.set(id, { id, status: 200, error: null });
        } catch (error) {
          if (!(error instanceof DomainError)) throw error;
          results.set(id, { id, status: STATUS_OF[error.kind] ?? 500, error: error.message });
        }
      }
      await saveConversations(tx, principal.organizationId, changes, now);
      const record: BulkResultRecord = { results: ids.map((id) => results.get(id)!) };
      return { id: '', version: 0, json: jsonBytes(record), replayed: false };
    }),
  );
}

type Decide = (
  tx: SqlExecutor,
  principal: Principal,
  row: ConversationRow,
  now: number,
) => Decision | Promise<Decision>;

/** What the action decides about one conversation. @throws InvalidError */
function decisionOf({ action }: ChangeConversationsRequest): Decide {
  switch (action?.$case) {
    case 'update': {
      const changes = parseUpdate(action.value);
      return async (tx, principal, row, now) => {
        const decision = decideUpdate(row, changes, now);
        // Before anything is stored, so that a refusal does not abort the transaction.
        await requireDepartmentAccess(tx, principal, row, decision.after);
        const { unread } = changes;
        if (unread === undefined) return decision;
        const { organizationId } = principal;
        return { ...decision, after: await markRead(tx, organizationId, decision.after, unread) };
      };
    }
    case 'labels': {
      const changes = parseLabels(action.value);
      return (_, principal, row) => {
        const decision = decideLabels(row, changes);
        requireMayRelease(principal, row.labels, decision.after.labels);
        return decision;
      };
    }
    case 'snooze': {
      const snooze = parseSnooze(action.value);
      return (_tx, _principal, row, now) => decideSnooze(row, snooze, now);
    }
    case 'unsnooze':
      return (_tx, _principal, row) => decideUnsnooze(row, null);
    case 'assign': {
      const assignment = parseAssignment(action.value);
      return async (tx, principal, row) => {
        const decision = decideAssignment(row, assignment);
        await requireDepartmentAccess(tx, principal, row, decision.after);
        return decision;
      };
    }
    case undefined:
      throw new InvalidError('action must be update, labels, snooze, unsnooze or assign.');
  }
}
