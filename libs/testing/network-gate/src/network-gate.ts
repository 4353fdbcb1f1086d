import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A TCP port in front of a server, through which the server can be taken away. */
export interface NetworkGate {
  /** On 127.0.0.1. */
  readonly port: number;
  /** As when the server died: connections break, new ones are refused. */
  cut(): Promise<void>;
  /** As when the server, or the way to it, hangs: connections stay and nothing comes through. */
  freeze(): void;
  /** Everything comes through again; what waited while frozen goes on. */
  open(): Promise<void>;
  close(): Promise<void>;
}

interface Pair {
  client: Socket;
  server: Socket;
}

/** Opens a gate to `host:port` on a free port of loopback. */
export async function openNetworkGate(target: {
  host: string;
  port: number;
}): Promise<NetworkGate> {
  const pairs = new Set<Pair>();
  let isFrozen = false;
  const accept = (client: Socket): void => {
    const server = connect(target);
    const pair = { client, server };
    pairs.add(pair);
    const end = (): void => {
      client.destroy();
      server.destroy();
      pairs.delete(pair);
    };
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.setNoDelay(true);
      from.on('error', end);
      from.on('close', end);
      from.on('end', () => to.end());
      from.on('drain', () => {
        if (!isFrozen) to.resume();
      });
      from.on('data', (bytes) => {
        if (!to.write(bytes)) from.pause();
      });
    }
    if (isFrozen) pause(pair);
  };
  let listener: Server | null = await listen(0, accept);
  const { port } = listener.address() as AddressInfo;
  const drop = (): void => {
    for (const { client, server } of pairs) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
  };
  const stopListening = async (): Promise<void> => {
    const ended = listener;
    listener = null;
    if (ended !== null) await new Promise((done) => ended.close(done));
  };
  return {
    port,
    cut: async () => {
      const stopped = stopListening();
      drop();
      await stopped;
    },
    freeze: () => {
      isFrozen = true;
      for (const pair of pairs) pause(pair);
    },
    open: async () => {
      isFrozen = false;
      for (const { client, server } of pairs) {
        client.resume();
        server.resume();
      }
      listener ??= await listen(port, accept);
    },
    close: async () => {
      const stopped = stopListening();
      drop();
      await stopped;
    },
  };
}

function pause({ client, server }: Pair): void {
  client.pause();
  server.pause();
}

function listen(port: number, accept: (socket: Socket) => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer(accept);
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
