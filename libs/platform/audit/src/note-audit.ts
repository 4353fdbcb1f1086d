import { AUDIT_NOTED, AuditNoted, type EventEnvelope } from '@dak/contracts/events';
import { uuidv7, type Principal } from '@dak/kernel';
import { appendToOutbox } from '@dak/platform/log';
import type { SqlExecutor } from '@dak/platform/postgres';

export interface AuditNote {
  /** `noun.verb`, such as `mailbox.created`. */
  action: string;
  target: { type: string; id: string | null };
  /** @default 'succeeded' */
  outcome?: 'attempted' | 'succeeded' | 'refused' | 'failed';
  /** Names of fields and ids; no text of mail, no secrets. */
  details?: Readonly<Record<string, unknown>>;
}

/** Who changed something: a caller, or the service itself for an organization. */
export type AuditCause =
  | { readonly principal: Principal; readonly requestId: string }
  | { readonly organizationId: string; readonly job: string };

/**
 * Notes a change for the organization's audit log in the transaction of the change: an outbox row,
 * which the gateway chains into the log once, usually within a tenth of a second. A change that is
 * rolled back leaves no entry, and a committed one cannot lose it.
 */
export async function noteAudit(
  tx: SqlExecutor,
  cause: AuditCause,
  note: AuditNote,
): Promise<void> {
  await appendToOutbox(tx, [auditEvent(cause, note, Date.now())]);
}

/** @param now milliseconds since the epoch */
function auditEvent(cause: AuditCause, note: AuditNote, now: number): EventEnvelope {
  const isCaller = 'principal' in cause;
  const organizationId = isCaller ? cause.principal.organizationId : cause.organizationId;
  const data = AuditNoted.encode({
    action: note.action,
    targetType: note.target.type,
    targetId: note.target.id ?? undefined,
    outcome: note.outcome ?? 'succeeded',
    requestId: isCaller ? cause.requestId : cause.job,
    detailsJson: JSON.stringify(note.details ?? {}),
  }).finish();
  return {
    id: `evt_${uuidv7(now)}`,
    type: AUDIT_NOTED,
    source: 'audit',
    organizationId,
    partitionKey: organizationId,
    sequence: 0,
    occurredAt: new Date(now),
    actor: isCaller ? actorOf(cause.principal) : { type: 'system', id: '', name: 'system' },
    causationDepth: 0,
    dataSchema: 'dak.events.v1.AuditNoted',
    dataVersion: 1,
    data: Buffer.from(data),
  };
}

function actorOf(principal: Principal): { type: string; id: string; name: string } {
  return principal.type === 'api_key'
    ? { type: 'api_key', id: principal.credentialId, name: principal.userName }
    : { type: 'user', id: principal.userId, name: principal.userName };
}
