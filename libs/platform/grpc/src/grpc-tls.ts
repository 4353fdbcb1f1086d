import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { checkServerIdentity, createSecureContext, type PeerCertificate } from 'node:tls';
import { experimental, type ChannelCredentials, type ServerCredentials } from '@grpc/grpc-js';
import { DomainError } from '@dak/kernel';
import type { Config, VariableName } from '@dak/platform/config';

/** Where the certificate of a process, its key and the authorities are that sign those of the others. */
export const GRPC_TLS_VARIABLES = [
  'DAK_GRPC_TLS_CERT',
  'DAK_GRPC_TLS_KEY',
  'DAK_GRPC_TLS_CA',
] as const satisfies readonly VariableName[];

export interface GrpcTlsPaths {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

export interface GrpcTlsOptions {
  readonly paths: GrpcTlsPaths;
  readonly log: {
    info(fields: Record<string, unknown>, message: string): void;
    error(fields: Record<string, unknown>, message: string): void;
  };
  /** Milliseconds between checks of the files. @default 2000 */
  readonly pollMs?: number;
}

/** @throws DomainError invalid when some of the three are set and some are not */
function grpcTlsPaths(config: Config<(typeof GRPC_TLS_VARIABLES)[number]>): GrpcTlsPaths | null {
  const { DAK_GRPC_TLS_CERT: cert, DAK_GRPC_TLS_KEY: key, DAK_GRPC_TLS_CA: ca } = config;
  if (cert !== undefined && key !== undefined && ca !== undefined) return { cert, key, ca };
  if (cert === undefined && key === undefined && ca === undefined) return null;
  throw new DomainError(
    'invalid',
    'bad_configuration',
    `${GRPC_TLS_VARIABLES.join(', ')} belong together: set all or none.`,
  );
}

/**
 * What the three variables name; null when none is set.
 * @throws DomainError invalid when some are missing, or the files cannot be used
 */
export function openGrpcTls(
  config: Config<(typeof GRPC_TLS_VARIABLES)[number]>,
  log: GrpcTlsOptions['log'],
): GrpcTls | null {
  const paths = grpcTlsPaths(config);
  return paths === null ? null : new GrpcTls({ paths, log });
}

interface Files {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer;
}

type IdentityListener = Parameters<
  experimental.CertificateProvider['addIdentityCertificateListener']
>[0];
type CaListener = Parameters<experimental.CertificateProvider['addCaCertificateListener']>[0];

/**
 * Mutual TLS between services: each shows a certificate, and each accepts those of the authorities only.
 * The files are read again when they change, for new connections; one that is half written or does not
 * fit changes nothing.
 */
export class GrpcTls implements experimental.CertificateProvider {
  readonly #options: GrpcTlsOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #identityListeners = new Set<IdentityListener>();
  readonly #caListeners = new Set<CaListener>();
  #files: Files;
  #isLooking = false;
  /** Said once of each trouble. */
  #said = '';

  /** @throws DomainError invalid when the files cannot be used */
  constructor(options: GrpcTlsOptions) {
    this.#options = options;
    const { cert, key, ca } = options.paths;
    try {
      this.#files = { cert: readFileSync(cert), key: readFileSync(key), ca: readFileSync(ca) };
      createSecureContext(this.#files);
    } catch (cause) {
      throw new DomainError(
        'invalid',
        'bad_configuration',
        `${GRPC_TLS_VARIABLES.join(', ')} cannot be used (${cert}, ${key}, ${ca}): ${(cause as Error).message}.`,
        { cause },
      );
    }
    this.#timer = setInterval(() => void this.#look(), options.pollMs ?? 2_000).unref();
  }

  serverCredentials(): ServerCredentials {
    return experimental.createCertificateProviderServerCredentials(this, this, true);
  }

  /** @param hosts of the addresses; a server has to be one of them */
  channelCredentials(hosts: readonly string[]): ChannelCredentials {
    return experimental.createCertificateProviderChannelCredentials(this, this, {
      checkServerIdentity: (_, certificate) => checkIdentity(hosts, certificate),
    });
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  addIdentityCertificateListener(listener: IdentityListener): void {
    this.#identityListeners.add(listener);
    process.nextTick(() => listener(this.#identity()));
  }

  removeIdentityCertificateListener(listener: IdentityListener): void {
    this.#identityListeners.delete(listener);
  }

  addCaCertificateListener(listener: CaListener): void {
    this.#caListeners.add(listener);
    process.nextTick(() => listener({ caCertificate: this.#files.ca }));
  }

  removeCaCertificateListener(listener: CaListener): void {
    this.#caListeners.delete(listener);
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { paths, log } = this.#options;
    try {
      const [cert, key, ca] = await Promise.all([
        readFile(paths.cert),
        readFile(paths.key),
        readFile(paths.ca),
      ]);
      const { cert: oldCert, key: oldKey, ca: oldCa } = this.#files;
      if (cert.equals(oldCert) && key.equals(oldKey) && ca.equals(oldCa)) return;
      createSecureContext({ cert, key, ca });
      this.#files = { cert, key, ca };
      this.#said = '';
      for (const listener of this.#caListeners) listener({ caCertificate: ca });
      for (const listener of this.#identityListeners) listener(this.#identity());
      log.info({ ...paths }, 'the certificate between services was read again');
    } catch (error) {
      const { message } = error as Error;
      if (message === this.#said) return;
      this.#said = message;
      log.error(
        { err: error, ...paths },
        'the new certificate between services is not usable, the old one stays',
      );
    } finally {
      this.#isLooking = false;
    }
  }

  #identity(): { certificate: Buffer; privateKey: Buffer } {
    return { certificate: this.#files.cert, privateKey: this.#files.key };
  }
}

/** For a server name indication where the address is a number, which TLS does not allow there (RFC 6066 §3). */
export function serverNameOptions(hosts: readonly string[]): Record<string, string> {
  return isIP(hosts[0]!) === 0 ? {} : { 'grpc.ssl_target_name_override': 'localhost' };
}

export function hostsOf(addresses: string): string[] {
  return addresses
    .split(',')
    .map((address) => experimental.splitHostPort(address)?.host ?? address);
}

/** Replicas of a list of addresses share one channel, whose own name is only that of the first. */
function checkIdentity(hosts: readonly string[], certificate: PeerCertificate): Error | undefined {
  const refusals = hosts.map((host) => checkServerIdentity(host, certificate));
  return refusals.includes(undefined) ? undefined : refusals[0];
}
