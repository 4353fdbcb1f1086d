import * as crypto from 'node:crypto';
import { promisify } from 'node:util';

/** OWASP's first choice for argon2id: 19 MiB, 2 passes, 1 lane. */
const MEMORY_KIB = 19_456;
const PASSES = 2;
const LANES = 1;
const TAG_LENGTH = 32;
const SALT_LENGTH = 16;
/** At most so many at once: each holds a thread of the pool and its memory. */
const CONCURRENCY = 2;

interface Derivation {
  algorithm: 'argon2id' | 'scrypt';
  salt: Buffer;
  parameters: string;
}

const waiting: (() => void)[] = [];
let running = 0;

/** A PHC string: `$argon2id$v=19$m=…,t=…,p=…$salt$hash`. */
export async function hashPassword(password: string): Promise<string> {
  const derivation: Derivation = {
    algorithm: hasArgon2() ? 'argon2id' : 'scrypt',
    salt: crypto.randomBytes(SALT_LENGTH),
    parameters: hasArgon2() ? `m=${MEMORY_KIB},t=${PASSES},p=${LANES}` : 'ln=17,r=8,p=1',
  };
  const version = derivation.algorithm === 'argon2id' ? '$v=19' : '';
  const tag = await derive(password, derivation);
  return `$${derivation.algorithm}${version}$${derivation.parameters}$${encode(derivation.salt)}$${encode(tag)}`;
}

/**
 * With null (no such user, or no password yet) it costs as much as with a hash, so that the answer's
 * time does not tell which addresses exist.
 */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const parsed = parse(stored ?? (await decoy()));
  if (parsed === null) return false;
  const tag = await derive(password, parsed.derivation);
  const isEqual = tag.length === parsed.tag.length && crypto.timingSafeEqual(tag, parsed.tag);
  return isEqual && stored !== null;
}

let decoyHash: Promise<string> | null = null;

function decoy(): Promise<string> {
  decoyHash ??= hashPassword(crypto.randomBytes(16).toString('hex'));
  return decoyHash;
}

function parse(stored: string): { derivation: Derivation; tag: Buffer } | null {
  const match = /^\$(argon2id|scrypt)(?:\$v=19)?\$([^$]+)\$([^$]+)\$([^$]+)$/.exec(stored);
  if (match === null) return null;
  const [, algorithm, parameters, salt, tag] = match;
  return {
    derivation: {
      algorithm: algorithm as Derivation['algorithm'],
      parameters: parameters!,
      salt: Buffer.from(salt!, 'base64'),
    },
    tag: Buffer.from(tag!, 'base64'),
  };
}

async function derive(password: string, derivation: Derivation): Promise<Buffer> {
  if (running >= CONCURRENCY) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return derivation.algorithm === 'argon2id'
      ? await argon2id(password, derivation)
      : await scrypt(password, derivation);
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

async function argon2id(password: string, { salt, parameters }: Derivation): Promise<Buffer> {
  const read = numbersOf(parameters);
  return promisify(crypto.argon2)('argon2id', {
    message: Buffer.from(password.normalize('NFKC')),
    nonce: salt,
    parallelism: read('p'),
    tagLength: TAG_LENGTH,
    memory: read('m'),
    passes: read('t'),
  });
}

/** Node before 24.7 has no argon2; OWASP's parameters for scrypt. */
async function scrypt(password: string, { salt, parameters }: Derivation): Promise<Buffer> {
  const read = numbersOf(parameters);
  const cost = 2 ** read('ln');
  const options = { N: cost, r: read('r'), p: read('p'), maxmem: 256 * cost * read('r') };
  return new Promise((resolve, reject) => {
    crypto.scrypt(password.normalize('NFKC'), salt, TAG_LENGTH, options, (error, tag) =>
      error === null ? resolve(tag) : reject(error),
    );
  });
}

function hasArgon2(): boolean {
  return typeof (crypto as { argon2?: unknown }).argon2 === 'function';
}

function numbersOf(parameters: string): (name: string) => number {
  const values = new Map(parameters.split(',').map((part) => part.split('=') as [string, string]));
  return (name) => Number(values.get(name));
}

function encode(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
