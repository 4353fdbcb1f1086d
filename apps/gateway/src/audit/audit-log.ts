import { uuidv7, type Clock, type Principal } from '@dak/kernel';
import type { Database, SqlExecutor } from '@dak/platform/postgres';
import type { AuditNote } from '../http/route';
import { actorOf, type AuditActor } from './audit-entry';
import { appendAudit } from './audit-store';

/** Who did it, in whose organization, by which request. */
export interface AuditSource {
  organizationId: string;
  actor: AuditActor;
  requestId: string;
}

export function auditSource(context: { principal: Principal; requestId: string }): AuditSource {
  const { principal, requestId } = context;
  return { organizationId: principal.organizationId, actor: actorOf(principal), requestId };
}

/** Writes audit entries: in the transaction of a change, or on its own for what changes nothing. */
export class AuditLog {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** As the last step of the transaction: it takes the lock of the organization's chain. */
  record(executor: SqlExecutor, source: AuditSource, note: AuditNote): Promise<void> {
    return appendAudit(executor, {
      id: uuidv7(),
      organizationId: source.organizationId,
      at: new Date(this.clock()).toISOString(),
      actor: source.actor,
      action: note.action,
      target: note.target,
      outcome: note.outcome,
      requestId: source.requestId,
      details: note.details ?? {},
    });
  }

  /** In its own transaction. */
  async recordAlone(source: AuditSource, note: AuditNote): Promise<void> {
    await this.database.inTenant(source.organizationId, (tx) => this.record(tx, source, note));
  }
}
