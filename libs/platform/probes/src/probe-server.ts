import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Probes, type ProbesOptions } from './probes';

export interface ProbeServer {
  port: number;
  close(): Promise<void>;
}

/** The probes on a port of their own, for a service that answers no HTTP besides. @param options.port 0 = any free port */
export async function startProbeServer(
  options: ProbesOptions & { host: string; port: number },
): Promise<ProbeServer> {
  const probes = new Probes(options);
  const server = createServer((request, response) => {
    if (!probes.answer(request, response)) response.writeHead(404).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}
