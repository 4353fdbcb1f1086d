export { createMetrics } from './metrics';
export { keep, registerDatabaseSize, registerDiskGauges } from './storage-gauges';
export {
  currentTraceparent,
  describeSpan,
  inSpan,
  isTracing,
  openSpan,
  streamInSpan,
  traceIdOf,
  type OpenSpan,
} from './span';
export { startTracing, type StopTracing } from './tracing';
