export { createMetrics } from './metrics';
export { currentTraceparent, inSpan } from './span';
export { startTracing, type StopTracing } from './tracing';
