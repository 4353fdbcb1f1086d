import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

import type { PemPair } from './pem-pair';

export interface SelfSignedOptions {
  /** From an hour ago on. @default 1 */
  readonly days?: number;
}

/**
 * An ECDSA P-256 certificate for `hostName` and 127.0.0.1. Node makes keys and signatures but no
 * certificates. The fixed structure is written as DER here: nothing is parsed, and the libraries that
 * write it (@peculiar/x509 and what is built on it) bring 20 packages of 4.9 MB into every process.
 */
export function createSelfSignedCertificate(
  hostName = 'localhost',
  { days = 1 }: SelfSignedOptions = {},
): PemPair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const now = Date.now();
  const ecdsaWithSha256 = sequence(objectIdentifier('2a8648ce3d040302'));
  const name = sequence(
    tagged(0x31, sequence(objectIdentifier('550403'), tagged(0x0c, Buffer.from(hostName)))),
  );
  const serial = randomBytes(8);
  serial[0] = (serial[0]! & 0x7f) | 0x40;
  const addresses = [
    tagged(0x82, Buffer.from(hostName)),
    tagged(0x87, Buffer.from([127, 0, 0, 1])),
  ];
  const subjectAltName = sequence(objectIdentifier('551d11'), tagged(0x04, sequence(...addresses)));
  const toBeSigned = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    tagged(0x02, serial),
    ecdsaWithSha256,
    name,
    sequence(utcTime(now - 3_600_000), utcTime(now + days * 86_400_000)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(subjectAltName)),
  );
  const signature = sign('sha256', toBeSigned, privateKey);
  const certificate = sequence(
    toBeSigned,
    ecdsaWithSha256,
    tagged(0x03, Buffer.concat([Buffer.from([0]), signature])),
  );
  const base64 = certificate.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
  };
}

/** One DER element (X.690 §8.1). */
function tagged(tag: number, content: Buffer): Buffer {
  const length = content.length;
  const header =
    length < 0x80
      ? [tag, length]
      : length < 0x100
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(header), content]);
}

function sequence(...elements: Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(elements));
}

function objectIdentifier(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, 'hex'));
}

function utcTime(time: number): Buffer {
  const digits = new Date(time).toISOString().replace(/[-:T]/g, '').slice(2, 14);
  return tagged(0x17, Buffer.from(`${digits}Z`));
}
