import type { Database } from '@dak/platform/postgres';
import { selectOrganizationsWithLostLeases, takeBackLeases, type LostLeases } from './lease-store';
import { lockSubmissions } from './result-store';
import { releaseScheduled, summarize } from './summarize-submissions';

/**
 * Takes back abandoned deliveries: those with an expired lease and, with an owner, those
 * under its name and not in its hand. What submissions and messages show follows at once.
 */
export async function takeBackDeliveries(
  database: Pick<Database, 'asWorker' | 'inTenant'>,
  options: LostLeases & { uncertainWaitSeconds: number },
  now: number,
): Promise<void> {
  const organizationIds = await database.asWorker((tx) =>
    selectOrganizationsWithLostLeases(tx, options),
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
