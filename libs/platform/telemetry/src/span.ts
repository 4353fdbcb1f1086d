import { SpanStatusCode, context, propagation, trace, type Attributes } from '@opentelemetry/api';

const tracer = trace.getTracer('dak');

/** Runs `work` in a span; a child of `traceparent` (W3C) where one is given. Free while tracing is off. */
export async function inSpan<T>(
  name: string,
  attributes: Attributes,
  traceparent: string | null,
  work: () => Promise<T>,
): Promise<T> {
  const parent =
    traceparent === null
      ? context.active()
      : propagation.extract(context.active(), { traceparent });
  return tracer.startActiveSpan(name, { attributes }, parent, async (span) => {
    try {
      return await work();
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** The current span as a W3C `traceparent`, to be sent on with a call or an event. */
export function currentTraceparent(): string | undefined {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  return carrier['traceparent'];
}
