import * as crypto from 'node:crypto';
import { promisify } from 'node:util';
import { HashingQueue } from './hashing-queue';

/** OWASP's first choice for argon2id: 19 MiB, 2 passes, 1 lane. */
const MEMORY_KIB = 19_456;
const PASSES = 2;
const LANES = 1;
const TAG_LENGTH = 32;
const SALT_LENGTH = 16;
/** Each holds a thread of the pool and its memory; with 20–40 ms each who waits last waits a second or two. */
const QUEUE = { atOnce: 2, waiting: 64 };

interface Derivation {
  algorithm: 'argon2id' | 'scrypt';
  salt: Buffer;
  parameters: string;
}

interface Parsed {
  derivation: Derivation;
  tag: Buffer;
}

/**
 * Hashes passwords and compares them with what is stored. The salt belongs to the e-mail address, so that one derivation
 * answers for all users who have the address, each in an organization of their own, and a login costs the same however
 * many these are. Different addresses have different salts, unknown without the secret.
 */
export class Passwords {
  private readonly queue = new HashingQueue(QUEUE);
  private decoyHash: Promise<Parsed> | null = null;

  /** @param secret 32 bytes, the same on every replica */
  constructor(private readonly secret: Uint8Array) {}

  /**
   * A PHC string: `$argon2id$v=19$m=…,t=…,p=…$salt$hash`.
   * @throws UnavailableError when too many passwords are being hashed
   */
  async hash(email: string, password: string): Promise<string> {
    const derivation = this.derivationOf(email);
    const version = derivation.algorithm === 'argon2id' ? '$v=19' : '';
    const tag = await this.derive(password, derivation);
    return `$${derivation.algorithm}${version}$${derivation.parameters}$${encode(derivation.salt)}$${encode(tag)}`;
  }

  /** Whether a new hash of the same password would have other parameters. */
  isCurrent(email: string, stored: string): boolean {
    const parsed = parse(stored);
    return parsed !== null && keyOf(parsed.derivation) === keyOf(this.derivationOf(email));
  }

  /**
   * Which of the stored hashes are of this password. With none (no such user, or no password yet) it costs as much as
   * with one, so that response times do not reveal which addresses exist.
   * @throws UnavailableError when too many passwords are being hashed
   */
  async matches(password: string, stored: readonly (string | null)[]): Promise<boolean[]> {
    const parsed = stored.map((text) => (text === null ? null : parse(text)));
    const tags = new Map<string, Buffer>();
    const decoy = await this.decoy();
    const known = parsed.filter((one) => one !== null);
    for (const { derivation } of known.length === 0 ? [decoy] : known) {
      const key = keyOf(derivation);
      if (!tags.has(key)) tags.set(key, await this.derive(password, derivation));
    }
    return parsed.map((one) => {
      const tag = one === null ? undefined : tags.get(keyOf(one.derivation));
      return one !== null && tag?.length === one.tag.length && crypto.timingSafeEqual(tag, one.tag);
    });
  }

  private derivationOf(email: string): Derivation {
    const salt = crypto.createHmac('sha256', this.secret).update(email).digest();
    return {
      algorithm: hasArgon2() ? 'argon2id' : 'scrypt',
      salt: salt.subarray(0, SALT_LENGTH),
      parameters: hasArgon2() ? `m=${MEMORY_KIB},t=${PASSES},p=${LANES}` : 'ln=17,r=8,p=1',
    };
  }

  /** Created at the first login of any kind, so that the first unknown address does not cost more. */
  private decoy(): Promise<Parsed> {
    this.decoyHash ??= this.hash('', crypto.randomBytes(16).toString('hex')).then(
      (text) => parse(text)!,
      (error: unknown) => {
        this.decoyHash = null;
        throw error;
      },
    );
    return this.decoyHash;
  }

  private derive(password: string, derivation: Derivation): Promise<Buffer> {
    return this.queue.run(() =>
      derivation.algorithm === 'argon2id'
        ? argon2id(password, derivation)
        : scrypt(password, derivation),
    );
  }
}

function keyOf({ algorithm, salt, parameters }: Derivation): string {
  return `${algorithm} ${parameters} ${salt.toString('base64')}`;
}

function parse(stored: string): Parsed | null {
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
