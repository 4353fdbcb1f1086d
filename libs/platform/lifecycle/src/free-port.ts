import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that systems give to outgoing connections (from 32768 on Linux, 49152 elsewhere), one
 * of which could take ours before the caller does.
 */
const RANGE = [20_000, 32_768] as const;
const TRIES = 50;

/** A port of `host` that is free now; another process may take it before the caller does. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (let left = TRIES; left > 0; left -= 1) {
    const port = await probe(randomInt(...RANGE), host).catch(nullIfTaken);
    if (port !== null) return port;
  }
  return probe(0, host);
}

/** Listens for a moment. @param port 0 = any; @returns the port */
function probe(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address();
      server.close(() =>
        resolve(typeof address === 'object' && address !== null ? address.port : 0),
      );
    });
  });
}

function nullIfTaken(error: unknown): null {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE' || code === 'EACCES') return null;
  throw error;
}
