import { openSpan, type OpenSpan } from '@dak/platform/telemetry';
import type { ClaimedEntry } from '../../spool/spool-store';

/** A span for each message that the pipeline works on, below that of its arrival. */
interface PipelineSpans {
  /** Runs claimed work under its span, or unchanged without tracing. */
  begin(entry: ClaimedEntry): ClaimedEntry;
  end(id: string, outcome: string, error?: unknown): void;
  /** Given back untried: as if nothing had been. */
  drop(id: string): void;
}

export function createPipelineSpans(): PipelineSpans {
  const spans = new Map<string, OpenSpan>();
  return {
    begin(entry) {
      const span = openSpan('pipeline run', {
        kind: 'consumer',
        attributes: {
          'dak.queue_id': entry.queueId ?? '',
          'dak.source': entry.source,
          'dak.attempt': entry.attempts,
        },
        parent: entry.traceparent,
      });
      if (span === null) return entry;
      spans.set(entry.id, span);
      return { ...entry, traceparent: span.traceparent };
    },
    end(id, outcome, error) {
      spans.get(id)?.end({ 'dak.outcome': outcome }, error);
      spans.delete(id);
    },
    drop: (id) => void spans.delete(id),
  };
}
