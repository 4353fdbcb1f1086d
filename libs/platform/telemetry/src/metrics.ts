import { Registry, collectDefaultMetrics } from 'prom-client';

/** One registry per process, served at `/metrics`; labels are of low cardinality, never a tenant. */
export function createMetrics(service: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  return registry;
}
