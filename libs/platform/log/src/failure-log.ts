import { failureReport, type FailureLog } from '@dak/platform/logging';
import type { HandlingFailure } from './log';

type Report = (error: unknown) => void;

/**
 * Logs handlers that throw, with the position in the log. Every parked key is logged; other failures
 * occasionally per group, because every event fails while a dependency is unavailable.
 */
export function reportHandlingFailures(logger: FailureLog): (failure: HandlingFailure) => void {
  const reports = new Map<string, Report>();
  let place: Record<string, unknown> = {};
  const placed: FailureLog = {
    warn: (fields, message) => logger.warn({ ...place, ...fields }, message),
    error: (fields, message) => logger.error({ ...place, ...fields }, message),
  };
  const reportFor = (group: string, what: string): Report => {
    const name = `${group}/${what}`;
    let report = reports.get(name);
    if (report === undefined) reports.set(name, (report = failureReport(placed, what)));
    return report;
  };
  return ({ group, topic, key, eventId, events, error, outcome }) => {
    place = { group, topic, key, event_id: eventId, events };
    switch (outcome) {
      case 'parked':
        return logger.error(
          { ...place, err: error },
          'an event failed for good: its key is parked until somebody replays or drops it (npm run parked)',
        );
      case 'waits':
        return reportFor(group, 'events wait for something that is away')(error);
      case 'repeated':
        return reportFor(group, 'an event could not be handled; it is tried again')(error);
    }
  };
}
