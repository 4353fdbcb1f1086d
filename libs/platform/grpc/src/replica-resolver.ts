import { lookup } from 'node:dns/promises';
import { experimental, Metadata, status } from '@grpc/grpc-js';

/** `dak-replicas:host:port,host:port`: every address of every host is one replica. */
const SCHEME = 'dak-replicas';
/** Names are asked again when a connection ends, but not more often than this. */
const RESOLVE_EVERY_MS = 1_000;

type Endpoint = experimental.Endpoint;

/** A target of grpc-js for replicas of one service. @param addresses `host:port`, or a comma list of them */
export function replicaTarget(addresses: string): string {
  return `${SCHEME}:${addresses}`;
}

/**
 * Resolves a comma list of `host:port`, which no resolver of grpc-js does for names. A name with several
 * addresses (a headless service of Kubernetes) stands for as many replicas.
 */
class ReplicaResolver implements experimental.Resolver {
  readonly #addresses: readonly string[];
  readonly #listener: experimental.ResolverListener;
  #timer: NodeJS.Timeout | null = null;
  #resolvedAt = -Infinity;
  #generation = 0;

  constructor(target: experimental.GrpcUri, listener: experimental.ResolverListener) {
    this.#addresses = target.path.split(',');
    this.#listener = listener;
  }

  static getDefaultAuthority(target: experimental.GrpcUri): string {
    return target.path.split(',')[0]!;
  }

  updateResolution(): void {
    if (this.#timer !== null) return;
    const wait = Math.max(0, this.#resolvedAt + RESOLVE_EVERY_MS - performance.now());
    this.#timer = setTimeout(() => void this.#resolve(), wait);
    this.#timer.unref();
  }

  destroy(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#generation += 1;
  }

  async #resolve(): Promise<void> {
    const generation = this.#generation;
    const found = await Promise.allSettled(this.#addresses.map(endpointsOf));
    if (generation !== this.#generation) return;
    this.#timer = null;
    this.#resolvedAt = performance.now();
    const endpoints = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    // One name that cannot be resolved must not take the other replicas away.
    const result =
      endpoints.length > 0
        ? experimental.statusOrFromValue(endpoints)
        : experimental.statusOrFromError<Endpoint[]>({
            code: status.UNAVAILABLE,
            details: `None of ${this.#addresses.join(', ')} can be resolved.`,
            metadata: new Metadata(),
          });
    this.#listener(result, {}, null, '');
  }
}

async function endpointsOf(address: string): Promise<Endpoint[]> {
  const { host, port } = experimental.splitHostPort(address) ?? { host: address };
  const found = await lookup(host, { all: true });
  return found.map((one) => ({ addresses: [{ host: one.address, port: port ?? 0 }] }));
}

experimental.registerResolver(SCHEME, ReplicaResolver);
