/** What has to be called before the process ends, so that no span is lost. */
export type StopTracing = () => Promise<void>;

/**
 * Traces through HTTP, gRPC and the log, by the standard `OTEL_*` variables: without
 * `OTEL_EXPORTER_OTLP_ENDPOINT` nothing is loaded and nothing is measured.
 */
export async function startTracing(
  service: string,
  environment: NodeJS.ProcessEnv,
): Promise<StopTracing> {
  if (!environment['OTEL_EXPORTER_OTLP_ENDPOINT']) return () => Promise.resolve();
  environment['OTEL_SERVICE_NAME'] ??= service;
  const [{ NodeTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
  ]);
  const provider = new NodeTracerProvider({
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  return () => provider.shutdown();
}
