import { createHmac, createSecretKey, generateKeyPairSync, hkdfSync, sign } from 'node:crypto';
import { DomainError } from '@dak/kernel';
import { CallerVerifier, PrincipalSigner, ServiceSigner } from '../src/index';
import { SECRET, principal, privateKey, publicKey } from './echo-service';

const verifier = new CallerVerifier(publicKey, SECRET, 'mail');
const people = new PrincipalSigner(privateKey, 'mail');
const service = new ServiceSigner(SECRET, 'webhook', 'mail');
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const FAR = 9_999_999_999;

function refuses(token: string): void {
  expect(() => verifier.verify(token)).toThrow('no valid principal');
}

describe('the token of a person', () => {
  it('is accepted while fresh and refused once expired', () => {
    const now = Date.now();
    const token = people.sign(principal, now);
    expect(verifier.verify(token, now)).toEqual(principal);
    expect(() => verifier.verify(token, now + 61_000)).toThrow('no valid principal');
  });

  it('is refused when altered, unsigned or signed by another key', () => {
    const [header, , signature] = people.sign(principal).split('.');
    const forged = part({ exp: FAR, aud: 'mail', principal: { ...principal, role: 'admin' } });
    refuses(`${header}.${forged}.${signature}`);
    refuses(`${header}.${forged}.`);
    refuses(new PrincipalSigner(generateKeyPairSync('ed25519').privateKey, 'mail').sign(principal));
    refuses('');
  });
});

describe('a token for one service', () => {
  const other = new CallerVerifier(publicKey, SECRET, 'webhook');

  it('is refused by another, of a person, of the gateway and of a service alike', () => {
    for (const token of [people.sign(principal), people.sign(null), service.sign(null)]) {
      expect(() => verifier.verify(token)).not.toThrow();
      expect(() => other.verify(token)).toThrow('no valid principal');
      // Also when it has been seen before.
      expect(() => other.verify(token)).toThrow('no valid principal');
    }
  });

  it('is refused when it names no service', () => {
    const signed = `${part({ alg: 'EdDSA', typ: 'dak-principal' })}.${part({ exp: FAR, principal })}`;
    const signature = sign(null, Buffer.from(signed), privateKey).toString('base64url');
    refuses(`${signed}.${signature}`);
  });
});

describe('the token of a service', () => {
  /** Signs with the right key but a different token layout. */
  const signedAs = (header: object, claims: object, secret = SECRET): string => {
    const key = Buffer.from(hkdfSync('sha256', secret, 'dak', 'tokens of services', 32));
    const signed = `${part(header)}.${part(claims)}`;
    const signature = createHmac('sha256', createSecretKey(key)).update(signed);
    return `${signed}.${signature.digest('base64url')}`;
  };
  const HEADER = { alg: 'HS256', typ: 'dak-service' };

  it('is accepted while fresh and refused once expired', () => {
    const now = Date.now();
    const token = service.sign(null, now);
    expect(verifier.verify(token, now)).toBeNull();
    expect(() => verifier.verify(token, now + 61_000)).toThrow('no valid principal');
    expect(
      verifier.verify(signedAs(HEADER, { exp: FAR, service: 'webhook', aud: 'mail' })),
    ).toBeNull();
  });

  it('is refused when altered, unsigned or signed with another secret', () => {
    const [header, claims, signature] = service.sign(null).split('.');
    refuses(`${header}.${part({ exp: FAR, service: 'gateway', aud: 'mail' })}.${signature}`);
    refuses(`${header}.${claims}.`);
    refuses(`${header}.${claims}`);
    refuses(new ServiceSigner('another secret of 32 characters!!', 'webhook', 'mail').sign(null));
    refuses(signedAs(HEADER, { exp: 1, service: 'webhook', aud: 'mail' }));
  });

  it('is refused under another type or algorithm', () => {
    const claims = { exp: FAR, service: 'webhook', aud: 'mail' };
    refuses(signedAs({ alg: 'HS256', typ: 'JWT' }, claims));
    refuses(signedAs({ alg: 'none', typ: 'dak-service' }, claims));
    refuses(signedAs({ alg: 'EdDSA', typ: 'dak-principal' }, { ...claims, principal }));
    refuses(signedAs({ alg: 'HS256', typ: 'dak-principal' }, { ...claims, principal }));
  });

  it('never carries a person', () => {
    expect(() => service.sign(principal)).toThrow(DomainError);
    const smuggled = signedAs(HEADER, { exp: FAR, service: 'webhook', aud: 'mail', principal });
    expect(verifier.verify(smuggled)).toBeNull();
  });
});
