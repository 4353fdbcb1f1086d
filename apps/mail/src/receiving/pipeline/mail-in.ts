import { Counter, type Registry } from 'prom-client';
import type { Clock } from '@dak/kernel';
import { traceIdOf } from '@dak/platform/telemetry';
import type { SpoolEntry } from '../../spool/spool-entry';

/**
 * What became of accepted mail: `opaque` when it could only be stored as it arrived; `echo` when it was our own
 * mail that came back; `mailbox_gone` when its mailbox has been deleted meanwhile; `deferred` when it is tried again.
 */
export type MailInOutcome =
  'stored' | 'opaque' | 'duplicate' | 'echo' | 'mailbox_gone' | 'deferred';

/** The outcome of an attempt to turn accepted mail into a message. */
export interface MailIn {
  readonly entry: SpoolEntry;
  readonly outcome: MailInOutcome;
  /** Id of the stored message. */
  readonly messageId: string | null;
}

interface MailInDeps {
  readonly registry: Registry;
  readonly log: { info(fields: Record<string, unknown>, message: string): void };
  readonly clock: Clock;
  /** Seconds from the 250 to the stored message, without imports. */
  readonly onStored: (seconds: number) => void;
}

/** Counts the pipeline's outcomes and logs a line for each mail, without addresses; imports have their own record. */
export function createMailInReport(deps: MailInDeps): (results: readonly MailIn[]) => void {
  const { log, clock } = deps;
  const outcomes = new Counter({
    name: 'dak_mail_pipeline_outcomes_total',
    help: 'Attempts to turn accepted mail into messages, by outcome and origin',
    labelNames: ['outcome', 'source'],
    registers: [deps.registry],
  });
  return (results) => {
    const now = clock();
    for (const { entry, outcome, messageId } of results) {
      const { source } = entry;
      outcomes.inc({ outcome, source });
      if (source === 'import') continue;
      const waitedMs = Math.max(0, now - entry.receivedAt.getTime());
      if (outcome !== 'deferred') deps.onStored(waitedMs / 1000);
      const traceId = traceIdOf(entry.traceparent);
      log.info(
        {
          queue_id: entry.queueId,
          outcome,
          source,
          mailbox_id: entry.mailboxId,
          message_id: messageId,
          size_bytes: entry.sizeBytes,
          waited_ms: waitedMs,
          ...(traceId === null ? {} : { trace_id: traceId }),
        },
        'mail in',
      );
    }
  };
}
