import { Counter, type Registry } from 'prom-client';
import { traceIdOf } from '@dak/platform/telemetry';
import type { AttemptResult } from './attempt-result';

interface MailOutDeps {
  readonly registry: Registry;
  readonly log: { info(fields: Record<string, unknown>, message: string): void };
}

/** Counts what became of attempts, on every process for its own, and writes a line for each, without whose mail it is. */
export function createMailOutReport({
  registry,
  log,
}: MailOutDeps): (results: readonly AttemptResult[]) => void {
  const outcomes = new Counter({
    name: 'dak_mail_delivery_outcomes_total',
    help: 'Attempts to deliver mail, by outcome and transport',
    labelNames: ['outcome', 'transport'],
    registers: [registry],
  });
  return (results) => {
    for (const { delivery, result, route, startedAt, finishedAt } of results) {
      outcomes.inc({ outcome: result.state, transport: route });
      const traceId = traceIdOf(delivery.traceparent);
      log.info(
        {
          queue_id: delivery.id,
          outcome: result.state,
          transport: route,
          submission_id: delivery.submissionId,
          attempt: delivery.attempts,
          phase: result.phase,
          smtp_code: result.smtpCode,
          enhanced_status: result.enhanced,
          took_ms: finishedAt - startedAt,
          ...(traceId === null ? {} : { trace_id: traceId }),
        },
        'mail out',
      );
    }
  };
}
