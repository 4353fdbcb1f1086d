import { createSecureContext } from 'node:tls';

/** A certificate, with its chain, and its private key. */
export interface PemPair {
  /** PEM; the certificate of the server first. */
  readonly cert: string;
  /** PEM, without a passphrase. */
  readonly key: string;
}

/** @throws Error when either cannot be read or the key is not the certificate's */
export function checkPair({ cert, key }: PemPair): void {
  createSecureContext({ cert, key });
}
