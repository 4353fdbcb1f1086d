import { context, propagation, trace } from '@opentelemetry/api';
import { useTracer } from './span';

/** What has to be called before the process ends, so that no span is lost. */
export type StopTracing = () => Promise<void>;

/**
 * Traces through SMTP, HTTP, gRPC and the log, by the standard `OTEL_*` variables: without
 * `OTEL_EXPORTER_OTLP_ENDPOINT` nothing is loaded and nothing is measured.
 */
export async function startTracing(
  service: string,
  environment: NodeJS.ProcessEnv,
): Promise<StopTracing> {
  if (!environment['OTEL_EXPORTER_OTLP_ENDPOINT']) return () => Promise.resolve();
  const [
    { NodeTracerProvider, BatchSpanProcessor },
    { OTLPTraceExporter },
    { defaultResource, detectResources, envDetector, resourceFromAttributes },
  ] = await Promise.all([
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const provider = new NodeTracerProvider({
    // The provider itself reads neither OTEL_SERVICE_NAME nor OTEL_RESOURCE_ATTRIBUTES.
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': service }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  useTracer(provider.getTracer('dak'));
  return async () => {
    useTracer(null);
    await provider.shutdown();
    trace.disable();
    context.disable();
    propagation.disable();
  };
}
