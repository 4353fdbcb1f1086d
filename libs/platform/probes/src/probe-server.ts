import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DomainError } from '@dak/kernel';
import type { Probes } from './probes';

export interface ProbeServer {
  port: number;
  close(): Promise<void>;
}

/**
 * The probes on a port of their own.
 * @param options.port 0 = any free port
 * @throws DomainError conflict when the port is taken
 */
export async function startProbeServer(options: {
  probes: Probes;
  host: string;
  port: number;
}): Promise<ProbeServer> {
  const server = createServer((request, response) => {
    if (!options.probes.answer(request, response)) response.writeHead(404).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? portInUse(options.port) : error),
    );
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

function portInUse(port: number): DomainError {
  return new DomainError(
    'conflict',
    'port_in_use',
    `The port ${port} for metrics is in use: set DAK_METRICS_PORT to another one, or 0 for any free port.`,
  );
}
