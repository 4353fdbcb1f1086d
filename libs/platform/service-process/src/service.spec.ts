import { ServiceRegistry } from '@dak/platform/grpc';
import type { Service } from './service-process';

it('a service that hears of no organizations does not compile', () => {
  const service: Service = {
    // @ts-expect-error Made without the tenant directory.
    registry: new ServiceRegistry(),
    start: () => Promise.resolve(),
    ready: () => Promise.resolve(),
    stop: () => Promise.resolve(),
  };
  expect(service.registry.entries).toBeDefined();
});
