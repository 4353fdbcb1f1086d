import type { Database } from '@dak/platform/postgres';
import { selectOrganizationsWithLostLeases, takeBackLeases } from './lease-store';
import { lockSubmissions } from './result-store';
import { releaseScheduled, summarize } from './summarize-submissions';

/**
 * Takes deliveries back from processes that are gone: those whose lease has run out and, at the start
 * of a process, all under its own name. What submissions and messages show follows at once.
 */
export async function takeBackDeliveries(
  database: Pick<Database, 'asWorker' | 'inTenant'>,
  options: { owner: string | null; uncertainWaitSeconds: number },
  now: number,
): Promise<void> {
  const organizationIds = await database.asWorker((tx) =>
    selectOrganizationsWithLostLeases(tx, options.owner),
  );
  for (const organizationId of organizationIds) {
    await database.inTenant(organizationId, async (tx) => {
      const ids = await takeBackLeases(tx, organizationId, options);
      if (ids.length === 0) return;
      const submissions = await lockSubmissions(tx, organizationId, ids);
      await summarize(tx, organizationId, ids, new Date(now).toISOString());
      const scheduled = submissions.filter((row) => row.message_status === 'scheduled');
      if (scheduled.length === 0) return;
      await releaseScheduled(
        tx,
        organizationId,
        scheduled.map((row) => ({ ...row, isWithdrawn: false })),
        now,
      );
    });
  }
}
