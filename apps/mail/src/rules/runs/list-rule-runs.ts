import type { RuleRunRecord } from '@dak/contracts/api';
import type {
  ListConversationRuleRunsRequest,
  ListRuleRunsRequest,
  Page,
  PageRequest,
} from '@dak/contracts/mail';
import type { Principal } from '@dak/kernel';
import type { CallContext } from '@dak/platform/grpc';
import { EXACT_TOTAL_LIMIT, jsonBytes, pageOf, pageWindow } from '@dak/platform/paging';
import type { SqlExecutor } from '@dak/platform/postgres';
import { loadConversation } from '../../conversations/visible-conversation-store';
import { loadRule } from '../definition/load-rule';
import type { RuleDeps } from '../definition/rule-deps';
import { selectRuleRuns, type RunFilter } from './rule-run-store';

type ListDeps = Pick<RuleDeps, 'database' | 'cursorKey'>;

/** Newest first; in conversations that the caller may read. @throws NotFoundError */
export function listRuleRuns(
  deps: ListDeps,
  request: ListRuleRunsRequest,
  { principal }: CallContext,
): Promise<Page> {
  const { ruleId } = request;
  return runPage(
    deps,
    principal,
    request.page,
    async (tx) => {
      const { rule } = await loadRule(tx, principal, ruleId);
      return { ruleId: rule.id, matched: request.matched ?? null };
    },
    { ruleId, matched: request.matched ?? null },
  );
}

/** What every rule has made of the messages of a conversation, newest first. @throws NotFoundError */
export function listConversationRuleRuns(
  deps: ListDeps,
  request: ListConversationRuleRunsRequest,
  { principal }: CallContext,
): Promise<Page> {
  const { conversationId } = request;
  return runPage(
    deps,
    principal,
    request.page,
    async (tx) => {
      const { id } = await loadConversation(tx, principal, conversationId, 'read');
      return { conversationId: id, matched: request.matched ?? null };
    },
    { conversationId, matched: request.matched ?? null },
  );
}

/** Hides the message's values from callers who may not read it. */
function runFor({ scopes }: Principal, run: RuleRunRecord): RuleRunRecord {
  if (scopes.includes('mail.read')) return run;
  const conditions = run.conditions.map((condition) => ({ ...condition, actual: null }));
  return { ...run, conditions };
}

async function runPage(
  { database, cursorKey }: ListDeps,
  principal: Principal,
  page: PageRequest | undefined,
  filterOf: (tx: SqlExecutor) => Promise<RunFilter>,
  filter: Record<string, string | boolean | null>,
): Promise<Page> {
  const { organizationId } = principal;
  const scope = { organizationId, list: 'rule-runs', filter };
  const window = pageWindow(cursorKey, scope, page);
  const { rows, total } = await database.inTenant(organizationId, async (tx) =>
    selectRuleRuns(tx, principal, await filterOf(tx), {
      after: window.after,
      offset: window.offset,
      limit: window.perPage + 1,
    }),
  );
  const isEstimate = total > EXACT_TOTAL_LIMIT;
  return pageOf(
    cursorKey,
    scope,
    window,
    rows,
    { count: total, isEstimate },
    (shown) => jsonBytes(shown.map((run) => runFor(principal, run))),
    (row) => [row.id],
  );
}
