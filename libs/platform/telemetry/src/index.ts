export { createMetrics } from './metrics';
export { keep, registerDatabaseSize, registerDiskGauges } from './storage-gauges';
export { currentTraceparent, inSpan } from './span';
export { startTracing, type StopTracing } from './tracing';
