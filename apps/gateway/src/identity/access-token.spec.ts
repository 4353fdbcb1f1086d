import { createPrivateKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { ACCESS_TOKEN_LIFETIME, AccessTokens } from './access-token';

const KEY = createPrivateKey({
  format: 'jwk',
  // RFC 8037, appendix A.1
  key: {
    kty: 'OKP',
    crv: 'Ed25519',
    d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
    x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  },
});
const NOW = 1_800_000_000_500;
const HEADER = { alg: 'EdDSA', typ: 'JWT' };
const PAYLOAD = {
  iss: 'dak',
  aud: 'dak',
  sub: 'user',
  org: 'organization',
  sid: 'session',
  iat: 1_800_000_000,
  exp: 1_800_000_900,
};
const CLAIMS = { organizationId: 'organization', userId: 'user', sessionId: 'session' };
const tokens = new AccessTokens(KEY);

/** The compact form of RFC 7515 §3.1, byte by byte. */
function signed(header: object, payload: unknown, key: KeyObject = KEY): string {
  const text = [header, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`;
}

describe('a session token', () => {
  it('is a JWT whose every byte is known, so that every version of Dak reads those of the others', async () => {
    expect(await tokens.issue(CLAIMS, NOW)).toBe(signed(HEADER, PAYLOAD));
    expect(await tokens.verify(signed(HEADER, PAYLOAD), NOW)).toEqual({
      ...CLAIMS,
      expiresAt: 1_800_000_900,
    });
  });

  it('ends with its lifetime, to the second', async () => {
    const token = await tokens.issue(CLAIMS, NOW);
    const end = 1_800_000_000_000 + ACCESS_TOKEN_LIFETIME * 1000;
    expect(await tokens.verify(token, end - 1)).not.toBeNull();
    expect(await tokens.verify(token, end)).toBeNull();
  });

  it('is none with another key, algorithm, type, issuer or audience, or when a claim is missing', async () => {
    const valid = signed(HEADER, PAYLOAD);
    const unsigned = valid.slice(0, valid.lastIndexOf('.') + 1);
    const other = generateKeyPairSync('ed25519').privateKey;
    for (const token of [
      signed(HEADER, PAYLOAD, other),
      signed({ ...HEADER, alg: 'none' }, PAYLOAD),
      signed({ ...HEADER, alg: 'HS256' }, PAYLOAD),
      signed({ ...HEADER, typ: 'dak-principal' }, PAYLOAD),
      signed({ ...HEADER, crit: ['exp'] }, PAYLOAD),
      signed(HEADER, { ...PAYLOAD, iss: 'somewhere' }),
      signed(HEADER, { ...PAYLOAD, aud: 'mail' }),
      signed(HEADER, { ...PAYLOAD, exp: undefined }),
      signed(HEADER, { ...PAYLOAD, sid: undefined }),
      signed(HEADER, 'text'),
      unsigned,
      `${valid}.`,
      `${valid.slice(0, -4)}AAAA`,
      'text',
      '',
    ]) {
      expect([token, await tokens.verify(token, NOW)]).toEqual([token, null]);
    }
  });
});
