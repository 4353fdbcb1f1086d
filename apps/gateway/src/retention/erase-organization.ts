import { setTimeout as delay } from 'node:timers/promises';
import { eraseTenant, type Database } from '@dak/platform/postgres';
import type { Log } from '@dak/platform/log';
import type { SharedState } from '@dak/platform/shared-state';
import type { TenantDirectory } from '../announcements/tenant-directories';
import type { AuditLog } from '../audit/audit-log';
import { AUDIT_GROUP } from '../audit/chain-notes';
import { upkeepCall } from '../backend/keepers';
import type { IdentityVersions } from '../identity/identity-versions';
import {
  addErased,
  deleteOrganization,
  type ErasureRow,
  finishErasure,
  forgetName,
  selectErasure,
} from './erasure-store';

const BUDGET_MS = 5_000;
const HOUR_MS = 3_600_000;
/** Groups that store rows from events; late rows are erased a day later. */
const READERS = ['rules', 'webhooks', 'analytics', 'stream-feed', AUDIT_GROUP];
const READ_WAIT_MS = 5_000;
const READ_EVERY_MS = 50;

export interface ErasureDeps {
  database: Database;
  audit: AuditLog;
  versions: IdentityVersions;
  sharedState: SharedState;
  tenants: readonly TenantDirectory[];
  log: Log | null;
  /** Overwrites what deleted rows have left in files; see `docs/operating.md`. */
  scrub: () => Promise<void>;
}

/**
 * Performs the remaining steps of a requested erasure. Every step is repeatable, so any
 * replica can continue after an interruption. The organization's record is removed last.
 */
export async function eraseOrganization(deps: ErasureDeps, id: string): Promise<void> {
  const { database } = deps;
  const asked = await database.asWorker((tx) => selectErasure(tx, id));
  if (asked === null || asked.finished_at !== null) return;
  for (const service of deps.tenants) {
    for (let more = true; more;) {
      const erased = await service.eraseOrganization({ organizationId: id }, upkeepCall());
      await database.asWorker((tx) => addErased(tx, id, erased));
      more = erased.more;
    }
  }
  if (deps.log !== null) await eventsRead(deps.log);
  await eraseLate(deps, id);
  for (let more = true; more;) {
    const erased = await eraseTenant(database, { organizationId: id, budgetMs: BUDGET_MS });
    await database.asWorker((tx) => addErased(tx, id, { ...erased, blobs: 0, bytes: 0 }));
    more = erased.more;
  }
  await database.asWorker((tx) => forgetName(tx, id));
  await deps.sharedState.delete(`identity:${id}`);
  await deps.scrub();
  await finish(deps, asked);
}

/** Waits, for a while, until consumers that store rows have read everything published. */
async function eventsRead(log: Log): Promise<void> {
  const deadline = Date.now() + READ_WAIT_MS;
  for (const group of READERS) {
    while (Date.now() < deadline) {
      const lags = await log.lag(group);
      if (lags.every(({ records }) => records === 0)) break;
      await delay(READ_EVERY_MS);
    }
  }
}

/** Erases what was in transit during the erasure. */
export async function eraseLate(
  { tenants, log }: Pick<ErasureDeps, 'tenants' | 'log'>,
  id: string,
): Promise<void> {
  for (const service of tenants) {
    while ((await service.eraseOrganization({ organizationId: id }, upkeepCall())).more);
  }
  await log?.forget({ organizationId: id, before: Date.now() + HOUR_MS, about: [] });
}

async function finish(deps: ErasureDeps, asked: ErasureRow): Promise<void> {
  const { database, versions, audit } = deps;
  const { id, requester_organization: organizationId } = asked;
  await versions.change(id, () =>
    database.asWorker(async (tx) => {
      if (!(await finishErasure(tx, id))) return;
      await deleteOrganization(tx, id);
      const done = (await selectErasure(tx, id))!;
      await tx.query(`select set_config('dak.organization_id', $1, true)`, [organizationId]);
      await audit.record(
        tx,
        {
          organizationId,
          actor: { type: 'user', id: asked.requester_id, name: asked.requester_name },
          requestId: asked.request_id,
        },
        {
          action: 'organization.erased',
          target: { type: 'organization', id },
          outcome: 'succeeded',
          details: {
            rows: done.rows_removed,
            blobs: done.blobs_removed,
            bytes: done.bytes_removed,
          },
        },
      );
    }),
  );
  await deps.sharedState.delete(`identity:${id}`);
}
