import type { Clock } from '@dak/kernel';
import type { Database } from '@dak/platform/postgres';
import { SYSTEM_ACTOR } from '../audit/audit-entry';
import type { AuditLog } from '../audit/audit-log';
import type { MailKeeper, Pace } from '../backend/keepers';
import type { EventKeeper } from './event-keepers';
import { selectRetentions } from './retention-store';

const DAY_MS = 86_400_000;

/** Numbers of removed records. */
export interface RetentionReport {
  messages: number;
  conversations: number;
  mailboxes: number;
  blobs: number;
  /** Total size of the blobs. */
  bytes: number;
}

export interface RetentionDeps {
  database: Database;
  audit: AuditLog;
  mail: MailKeeper;
  events: readonly EventKeeper[];
  clock: Clock;
}

export interface RetentionRound {
  pace: Pace;
  /** Looks at everything, also where it takes long. */
  isThorough: boolean;
  /** Called between two steps; false ends the round. */
  goesOn?: () => Promise<boolean>;
}

/**
 * Removes what organizations keep no longer, one organization after the other. Whatever interrupts it,
 * the next round continues: the remaining work follows from the remaining rows.
 * @throws the first failure, once all other organizations had their turn
 */
export async function runRetention(
  deps: RetentionDeps,
  round: RetentionRound,
): Promise<RetentionReport> {
  const total: RetentionReport = {
    messages: 0,
    conversations: 0,
    mailboxes: 0,
    blobs: 0,
    bytes: 0,
  };
  const organizations = await selectRetentions(deps.database);
  await eachInTurn(organizations, async ({ id, retentionDays }) => {
    if ((await round.goesOn?.()) === false) return;
    const before = retentionDays === null ? null : deps.clock() - retentionDays * DAY_MS;
    const removed = await applyTo(deps, round, id, before);
    for (const kind of Object.keys(total) as (keyof RetentionReport)[]) {
      total[kind] += removed[kind];
    }
    if (Object.values(removed).some((count) => count > 0)) await note(deps, id, removed);
  });
  return total;
}

/** One after the other, also when some fail. @throws the first failure, once all had their turn */
async function eachInTurn<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  for (const item of items) await work(item).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

async function applyTo(
  { mail, events }: RetentionDeps,
  { pace, isThorough, goesOn }: RetentionRound,
  organizationId: string,
  before: number | null,
): Promise<RetentionReport> {
  const report = { messages: 0, conversations: 0, mailboxes: 0, blobs: 0, bytes: 0 };
  for (let more = true; more;) {
    const batch = await mail.removeExpired(organizationId, before, pace);
    report.messages += batch.messages;
    report.conversations += batch.conversations;
    report.mailboxes += batch.mailboxes;
    more = batch.more && (await goesOn?.()) !== false;
  }
  const asked = events.filter(({ isSlow }) => isThorough || isSlow !== true);
  if (before !== null) {
    for (const keeper of asked) {
      while ((await keeper.forget(organizationId, before, [])).more);
    }
  }
  while (isThorough) {
    const removed = await mail.listRemoved(organizationId);
    if (removed.length === 0) break;
    for (const keeper of asked) await keeper.forget(organizationId, null, removed);
    await mail.acknowledgeRemoved(
      organizationId,
      removed.map(({ id }) => id),
    );
  }
  for (let more = true; more;) {
    const swept = await mail.sweepBlobs(organizationId, {
      isWhole: pace === 'fast',
      forgetsJournals: isThorough,
    });
    report.blobs += swept.blobs;
    report.bytes += swept.bytes;
    more = swept.more && (await goesOn?.()) !== false;
  }
  return report;
}

async function note(
  { audit }: RetentionDeps,
  organizationId: string,
  removed: RetentionReport,
): Promise<void> {
  await audit.recordAlone(
    { organizationId, actor: SYSTEM_ACTOR, requestId: 'retention' },
    {
      action: 'retention.applied',
      target: { type: 'organization', id: organizationId },
      outcome: 'succeeded',
      details: { ...removed },
    },
  );
}
