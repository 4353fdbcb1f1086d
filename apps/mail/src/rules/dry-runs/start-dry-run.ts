import type { Document, StartRuleDryRunRequest } from '@dak/contracts/mail';
import { InvalidError, RefusedError, uuidv7 } from '@dak/kernel';
import type { CallContext } from '@dak/platform/grpc';
import { idempotent } from '@dak/platform/idempotency';
import { definitionOf } from '../definition/parse-rule';
import type { RuleDeps } from '../definition/rule-deps';
import { countRunningDryRuns, insertDryRun, selectDryRun } from './dry-run-store';
import { dryRunDocument } from './get-dry-run';
import { ruleOf } from './test-rule';

const DEFAULT_DAYS = 30;
const DAY = 86_400_000;
/** At the same time, per organization. */
const MAX_RUNNING = 5;

/**
 * Begins to put the mail of the past before a rule; it goes on in the background, also after a
 * restart. Nothing is done to the mail.
 */
export async function startDryRun(
  { database, clock, onDryRun }: Pick<RuleDeps, 'database' | 'clock'> & { onDryRun: () => void },
  request: StartRuleDryRunRequest,
  context: CallContext,
): Promise<Document> {
  const { principal } = context;
  const { organizationId } = principal;
  const now = clock();
  const to = timeOf('to', request.to) ?? now;
  const from = timeOf('from', request.from) ?? to - DEFAULT_DAYS * DAY;
  if (from >= to) throw new InvalidError('from must be before to.');
  const document = await database.inTenant(organizationId, (tx) =>
    idempotent(tx, context, async () => {
      const rule = await ruleOf(tx, principal, request.subject, now);
      if ((await countRunningDryRuns(tx, organizationId)) >= MAX_RUNNING) {
        throw new RefusedError(
          `${MAX_RUNNING} dry runs are under way, which is the limit. Wait until one is done.`,
          'dry_run_limit',
        );
      }
      const id = uuidv7(now);
      await insertDryRun(tx, organizationId, {
        id,
        rule_id: rule.id,
        definition: definitionOf(rule),
        user_id: principal.userId,
        user_role: principal.role,
        department_ids: [...principal.departmentIds],
        from_at: new Date(from).toISOString(),
        to_at: new Date(to).toISOString(),
        condition_hits: rule.conditions.map(() => 0),
        created_at: new Date(now).toISOString(),
      });
      const row = await selectDryRun(tx, organizationId, null, id);
      return dryRunDocument(row!);
    }),
  );
  onDryRun();
  return document;
}

function timeOf(field: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new InvalidError(`${field} must be an RFC 3339 date-time.`);
  return time;
}
