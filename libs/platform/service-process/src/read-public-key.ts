import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DomainError } from '@dak/kernel';

/** The gateway's public key, also out of the private one. @throws DomainError invalid when the file holds none */
export function readPublicKey(file: string): KeyObject {
  try {
    const key = createPublicKey(readFileSync(file));
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // The sentence below says all that matters of an unreadable or malformed file.
  }
  throw new DomainError(
    'invalid',
    'bad_configuration',
    `DAK_PRINCIPAL_KEY_FILE must name a readable Ed25519 key in PEM, and ${file} is none.`,
  );
}
