import { type Clock, SYSTEM } from '@dak/kernel';
import { createRepeatingWorker, type RepeatingWorker } from '@dak/platform/lifecycle';
import type { Database } from '@dak/platform/postgres';
import type { ConversationRow } from '../conversation-row';
import { REOPEN_WINDOW_DAYS } from '../conversation-status';
import { lockConversations } from '../conversation-store';
import { saveConversations, type ConversationChange } from '../save-conversations';
import { decideUnsnooze } from './decide-changes';
import { type Due, selectResolvedBefore, selectSnoozedUntil } from './due-store';

const BATCH = 100;
const DAY = 86_400_000;

/** Wakes the conversations whose snooze is over. @returns how many */
export async function wakeSnoozed(database: Database, now: number): Promise<number> {
  const due = await selectSnoozedUntil(database, new Date(now).toISOString(), BATCH);
  return change(database, due, now, (row) =>
    row.status === 'snoozed' && row.snoozed_until !== null && Date.parse(row.snoozed_until) <= now
      ? { ...decideUnsnooze(row, 'snooze_over') }
      : null,
  );
}

/** Closes conversations resolved for longer than the reopen window. @returns how many */
export async function closeResolved(database: Database, now: number): Promise<number> {
  const before = now - REOPEN_WINDOW_DAYS * DAY;
  const due = await selectResolvedBefore(database, new Date(before).toISOString(), BATCH);
  return change(database, due, now, (row) =>
    row.status === 'resolved' && row.resolved_at !== null && Date.parse(row.resolved_at) < before
      ? {
          after: { ...row, status: 'closed' },
          activity: [
            {
              type: 'status_changed',
              before: 'resolved',
              after: 'closed',
              reason: 'reopen_window_over',
            },
          ],
          reason: 'status_changed',
        }
      : null,
  );
}

async function change(
  database: Database,
  due: readonly Due[],
  now: number,
  decide: (
    row: ConversationRow,
  ) => Pick<ConversationChange, 'after' | 'activity' | 'reason'> | null,
): Promise<number> {
  let changed = 0;
  for (const [organizationId, rows] of Map.groupBy(due, (row) => row.organization_id)) {
    changed += await database.inTenant(organizationId, async (tx) => {
      const locked = await lockConversations(
        tx,
        organizationId,
        rows.map((row) => row.id),
      );
      // Somebody may have been faster: the locked row decides again.
      const changes = locked.flatMap(({ mailbox_address: _, ...before }) => {
        const decision = decide(before);
        return decision === null ? [] : [{ before, ...decision, actor: SYSTEM }];
      });
      await saveConversations(tx, organizationId, changes, now);
      return changes.length;
    });
  }
  return changed;
}

export interface ClockworkDeps {
  database: Database;
  clock: Clock;
  onError: (error: unknown) => void;
}

/** Wakes snoozed conversations, within a second of their time. */
export function createSnoozeWaker(deps: ClockworkDeps, everyMs = 1_000): RepeatingWorker {
  return createRepeatingWorker(
    'wake snoozed',
    async () => roundOf(await wakeSnoozed(deps.database, deps.clock())),
    everyMs,
    deps.onError,
  );
}

/** Closes resolved conversations after the reopen window. */
export function createConversationCloser(deps: ClockworkDeps, everyMs = 60_000): RepeatingWorker {
  return createRepeatingWorker(
    'close resolved',
    async () => roundOf(await closeResolved(deps.database, deps.clock())),
    everyMs,
    deps.onError,
  );
}

function roundOf(changed: number) {
  return { more: changed >= BATCH, isIdle: changed === 0 };
}
