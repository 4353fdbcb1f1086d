import { isOutage } from '@dak/kernel';

/** An outage fails every round of every worker; one line in this time says as much as a thousand. */
const QUIET_MS = 30_000;

export interface FailureLog {
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}

/**
 * Reports failures of one operation that is tried again: WARN while something that it needs is away,
 * which is temporary, else ERROR. The same level is not reported again within 30 s; skipped lines
 * out is counted in `repeated` of the next line.
 * @param now milliseconds
 */
export function failureReport(
  logger: FailureLog,
  what: string,
  now: () => number = Date.now,
): (error: unknown) => void {
  const reports = {
    warn: { quietUntil: -Infinity, repeated: 0 },
    error: { quietUntil: -Infinity, repeated: 0 },
  };
  return (error) => {
    const level = isOutage(error) ? 'warn' : 'error';
    const report = reports[level];
    if (now() < report.quietUntil) {
      report.repeated += 1;
      return;
    }
    const repeated = report.repeated === 0 ? {} : { repeated: report.repeated };
    logger[level]({ err: error, ...repeated }, what);
    report.quietUntil = now() + QUIET_MS;
    report.repeated = 0;
  };
}
