import { setTimeout as delay } from 'node:timers/promises';
import { AuditNoted, type EventEnvelope } from '@dak/contracts/events';
import { InvalidError } from '@dak/kernel';
import { createGroupCommit } from '@dak/platform/group-commit';
import { fromLogRecord, type Log, type Subscription } from '@dak/platform/log';
import type { Database } from '@dak/platform/postgres';
import type { AuditActor, AuditEntry } from './audit-entry';
import { appendAudit, hasAuditEntry, hasOrganization } from './audit-store';

/** One group over all replicas of the gateway. */
export const AUDIT_GROUP = 'audit';
const CONCURRENCY = 8;

/**
 * Chains what services noted into the audit logs of their organizations. An entry has the id of its
 * event, so an event that is delivered again adds nothing. Notes of an erased organization are dropped.
 */
export function startAuditChain(deps: { log: Log; database: Database }): Promise<Subscription> {
  return deps.log.subscribe(
    AUDIT_GROUP,
    ['audit.events.v1'],
    async (records) => {
      const entries = records.map((record) => toAuditEntry(fromLogRecord(record)));
      const { organizationId } = entries[0]!;
      await deps.database.inTenant(organizationId, async (tx) => {
        if (!(await hasOrganization(tx, organizationId))) return;
        for (const entry of entries) {
          if (!(await hasAuditEntry(tx, organizationId, entry.id))) await appendAudit(tx, entry);
        }
      });
    },
    { from: 'earliest', concurrency: CONCURRENCY },
  );
}

const PATIENCE_MS = 2_500;
const PAUSE_MS = 10;
const MOST_READERS = 10_000;

/**
 * Makes what resolves when every note that a service committed before the call is in its audit log, at the
 * latest after five seconds: a caller who makes a change and then reads the log finds it. However many
 * read it at once, they share one check; an unavailable service does not hide existing entries.
 */
export function createAuditSettling(
  log: Log | undefined,
  settleServices: () => Promise<void>,
): () => Promise<void> {
  const looks = createGroupCommit(
    async (readers: null[]) => {
      await settle(log, settleServices);
      return readers;
    },
    { maxItems: MOST_READERS },
  );
  return async () => {
    const settled = looks.submit(null).catch(() => undefined);
    await Promise.race([settled, delay(2 * PATIENCE_MS, null, { ref: false })]);
  };
}

async function settle(log: Log | undefined, settleServices: () => Promise<void>): Promise<void> {
  // An unavailable service must not hide existing entries.
  await settleServices().catch(() => undefined);
  if (log === undefined) return;
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await delay(PAUSE_MS)) {
    const lag = await log.lag(AUDIT_GROUP);
    if (lag.every(({ records }) => records === 0)) return;
  }
}

type NewEntry = Omit<AuditEntry, 'sequence' | 'previousHash'>;

/** @throws InvalidError for a note that cannot be read */
function toAuditEntry(event: EventEnvelope): NewEntry {
  const note = AuditNoted.decode(event.data);
  return {
    id: event.id.replace(/^evt_/, ''),
    organizationId: event.organizationId,
    at: (event.occurredAt ?? new Date(0)).toISOString(),
    actor: {
      type: (event.actor?.type ?? 'system') as AuditActor['type'],
      id: event.actor?.id === undefined || event.actor.id === '' ? null : event.actor.id,
      name: event.actor?.name ?? 'system',
    },
    action: note.action,
    target: { type: note.targetType, id: note.targetId ?? null },
    outcome: note.outcome as AuditEntry['outcome'],
    requestId: note.requestId,
    details: detailsOf(event.id, note.detailsJson),
  };
}

function detailsOf(id: string, json: string): Record<string, unknown> {
  try {
    const details: unknown = JSON.parse(json);
    if (typeof details === 'object' && details !== null) return details as Record<string, unknown>;
  } catch {
    // Refused below.
  }
  throw new InvalidError(`The details of ${id} are no JSON object.`, 'undecodable');
}
