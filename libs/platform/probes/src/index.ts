export { startProbeServer, type ProbeServer } from './probe-server';
export { Probes, type ProbesOptions } from './probes';
