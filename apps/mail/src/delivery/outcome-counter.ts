import { Counter, type Registry } from 'prom-client';
import type { AttemptResult } from './attempt-result';

/** Counts what became of attempts, on every process for its own. */
export function createOutcomeCounter(
  registry: Registry,
): (results: readonly AttemptResult[]) => void {
  const outcomes = new Counter({
    name: 'dak_mail_delivery_outcomes_total',
    help: 'Attempts to deliver mail, by what became of the delivery and by transport',
    labelNames: ['outcome', 'transport'],
    registers: [registry],
  });
  return (results) => {
    for (const { result, route } of results) {
      outcomes.inc({ outcome: result.state, transport: route });
    }
  };
}
