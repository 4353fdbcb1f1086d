import { isTracing, openSpan } from '@dak/platform/telemetry';
import type { RecordHandler } from './log';

/**
 * A span for each record and delivery of it, below that of the event: the handler finds it as the
 * record's `traceparent` and passes it on.
 */
export function tracedHandler(group: string, handler: RecordHandler): RecordHandler {
  return async (records, context) => {
    if (!isTracing()) return handler(records, context);
    const traced = records.map((record) => {
      const { headers } = record;
      const span = openSpan(`${group} consume ${headers['ce_type'] ?? record.topic}`, {
        kind: 'consumer',
        attributes: { 'messaging.message.id': record.id, 'dak.attempt': context.attempt },
        parent: headers['traceparent'] ?? null,
      });
      if (span === null) return { record, span };
      const { traceparent } = span;
      return { record: { ...record, headers: { ...headers, traceparent } }, span };
    });
    try {
      await handler(
        traced.map(({ record }) => record),
        context,
      );
      for (const { span } of traced) span?.end();
    } catch (error) {
      for (const { span } of traced) span?.end(undefined, error);
      throw error;
    }
  };
}
