import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  context,
  propagation,
  trace,
  type Attributes,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { DomainError } from '@dak/kernel';

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const;

interface SpanOptions {
  /** @default 'internal' */
  kind?: keyof typeof KINDS;
  attributes?: Attributes;
  /**
   * What the span belongs to, as a W3C `traceparent`; null or malformed = it begins a trace. A queue that
   * one caller wakes works for many: work for one always names its parent.
   * @default the span around the call
   */
  parent?: string | null | undefined;
}

/** A span that its maker has to end; one that is never ended leaves no trace. */
export interface OpenSpan {
  /** To be sent on with a call or an event, or to be stored with a row. */
  readonly traceparent: string;
  /** @param error the error the work failed with, if any */
  end(attributes?: Attributes, error?: unknown): void;
}

/** Null without an exporter: then no span, context or identifier is created. */
let tracer: Tracer | null = null;

/** @param used null: no more spans are made */
export function useTracer(used: Tracer | null): void {
  tracer = used;
}

/** Whether spans are made at all in this process. */
export function isTracing(): boolean {
  return tracer !== null;
}

/**
 * Runs `work` in a span. While tracing is off it is called as it is.
 * @param work gets the `traceparent` of the span, undefined while tracing is off
 * @param isNothing whether the result means no work: then the span is dropped
 */
export function inSpan<T>(
  name: string,
  options: SpanOptions,
  work: (traceparent: string | undefined) => Promise<T>,
  isNothing?: (result: T) => boolean,
): Promise<T> {
  if (tracer === null) return work(undefined);
  const { span, inside } = begin(tracer, name, options);
  return context.with(inside, async () => {
    try {
      const result = await work(format(span));
      if (isNothing?.(result) !== true) span.end();
      return result;
    } catch (error) {
      fail(span, error);
      span.end();
      throw error;
    }
  });
}

/** As {@link inSpan}, around everything that a stream gives. */
export async function* streamInSpan<T>(
  name: string,
  options: SpanOptions,
  work: (traceparent: string | undefined) => AsyncIterable<T>,
): AsyncIterable<T> {
  if (tracer === null) {
    yield* work(undefined);
    return;
  }
  const { span, inside } = begin(tracer, name, options);
  try {
    yield* context.with(inside, () => work(format(span)));
  } catch (error) {
    fail(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** For work that shares its calls with other work, so that no function is around it alone; null while tracing is off. */
export function openSpan(name: string, options: SpanOptions): OpenSpan | null {
  if (tracer === null) return null;
  const { span } = begin(tracer, name, options);
  return {
    traceparent: format(span),
    end(attributes, error) {
      if (attributes !== undefined) span.setAttributes(attributes);
      if (error !== undefined) fail(span, error);
      span.end();
    },
  };
}

/** Adds to the span around the call. */
export function describeSpan(attributes: Attributes): void {
  if (tracer !== null) trace.getSpan(context.active())?.setAttributes(attributes);
}

/** The span around the call as a W3C `traceparent`. */
export function currentTraceparent(): string | undefined {
  if (tracer === null) return undefined;
  const span = trace.getSpan(context.active());
  return span === undefined ? undefined : format(span);
}

/** The id of the trace that a `traceparent` belongs to; null where there is none. */
export function traceIdOf(traceparent: string | null | undefined): string | null {
  return traceparent?.split('-')[1] ?? null;
}

function begin(by: Tracer, name: string, { kind, attributes, parent }: SpanOptions) {
  const outside = parentContext(parent);
  const span = by.startSpan(
    name,
    { kind: KINDS[kind ?? 'internal'], ...(attributes === undefined ? {} : { attributes }) },
    outside,
  );
  return { span, inside: trace.setSpan(outside, span) };
}

function parentContext(parent: string | null | undefined): Context {
  if (parent === undefined) return context.active();
  return parent === null
    ? ROOT_CONTEXT
    : propagation.extract(ROOT_CONTEXT, { traceparent: parent });
}

function format(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** What a caller did wrong is an answer and no fault of the span. */
function fail(span: Span, error: unknown): void {
  if (error instanceof DomainError) {
    span.setAttribute('error.type', error.code);
    if (!FAULTS.has(error.kind)) return;
  }
  span.setStatus({ code: SpanStatusCode.ERROR });
}

const FAULTS: ReadonlySet<string> = new Set(['internal', 'unavailable', 'deadline_exceeded']);
