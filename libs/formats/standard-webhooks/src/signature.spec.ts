import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import fc from 'fast-check';
import { newSecret, parseSecret } from './secret';
import { signatureHeader, verifySignature } from './signature';

/** The vector that the suites of all reference libraries share. */
const VECTOR = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: 1_614_265_330,
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};
const verifiers = [
  ['standardwebhooks', (secret: string) => new StandardWebhook(secret)],
  ['svix', (secret: string) => new SvixWebhook(secret)],
] as const;

function signed(body: string, secrets: string[], timestamp = Math.floor(Date.now() / 1000)) {
  const id = 'evt_0195f0a2-7a7e-7c11-8a53-0f4e4d1f2b11';
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatureHeader({
      id,
      timestamp,
      body,
      secrets: secrets.map(parseSecret),
    }),
  };
}

describe('signatureHeader', () => {
  it('signs the shared vector as every reference library does', () => {
    expect(signatureHeader({ ...VECTOR, secrets: [parseSecret(VECTOR.secret)] })).toBe(
      VECTOR.signature,
    );
  });

  it('signs bytes that are not UTF-8 as they are', () => {
    const secrets = [parseSecret(VECTOR.secret)];
    const ofBytes = (body: Uint8Array) => signatureHeader({ id: 'a', timestamp: 1, body, secrets });
    expect(ofBytes(Uint8Array.of(0xff))).not.toBe(ofBytes(Uint8Array.of(0xfe)));
  });

  it('refuses to sign with nothing, and an id that would make the signed text ambiguous', () => {
    expect(() => signatureHeader({ ...VECTOR, secrets: [] })).toThrow(RangeError);
    expect(() =>
      signatureHeader({ ...VECTOR, id: 'a.1', secrets: [parseSecret(VECTOR.secret)] }),
    ).toThrow(RangeError);
  });

  describe.each(verifiers)('verified by %s', (_name, verifier) => {
    it('holds for any body', () => {
      const secret = newSecret();
      fc.assert(
        fc.property(fc.json(), (body) => {
          verifier(secret).verify(body, signed(body, [secret]));
        }),
        { numRuns: 50 },
      );
    });

    it('holds for receivers with the old and with the new secret during a rotation, and not for others', () => {
      const [old, fresh] = [newSecret(), newSecret()];
      const body = '{"type":"mail.received"}';
      const during = signed(body, [fresh, old]);
      expect(() => verifier(old).verify(body, during)).not.toThrow();
      expect(() => verifier(fresh).verify(body, during)).not.toThrow();
      expect(() => verifier(newSecret()).verify(body, during)).toThrow('No matching signature');
      expect(() => verifier(old).verify(body, signed(body, [fresh]))).toThrow(
        'No matching signature',
      );
      expect(() => verifier(fresh).verify(`${body} `, during)).toThrow('No matching signature');
    });

    it('lapses with its timestamp', () => {
      const secret = newSecret();
      const past = signed('{}', [secret], Math.floor(Date.now() / 1000) - 301);
      expect(() => verifier(secret).verify('{}', past)).toThrow('too old');
    });
  });
});

describe('verifySignature', () => {
  const check = (changes: {
    id?: string;
    timestamp?: string;
    signature?: string;
    body?: string;
    secrets?: string[];
    now?: number;
    toleranceSeconds?: number;
  }) =>
    verifySignature({
      headers: {
        id: changes.id ?? VECTOR.id,
        timestamp: changes.timestamp ?? String(VECTOR.timestamp),
        signature: changes.signature ?? VECTOR.signature,
      },
      body: changes.body ?? VECTOR.body,
      secrets: (changes.secrets ?? [VECTOR.secret]).map(parseSecret),
      now: changes.now ?? VECTOR.timestamp,
      ...(changes.toleranceSeconds === undefined
        ? {}
        : { toleranceSeconds: changes.toleranceSeconds }),
    });

  it('accepts what the reference libraries sign', () => {
    const secret = newSecret();
    const at = new Date(VECTOR.timestamp * 1000);
    const signature = new StandardWebhook(secret).sign(VECTOR.id, at, VECTOR.body);
    expect(check({ signature, secrets: [newSecret(), secret] })).toEqual({ valid: true });
  });

  it('passes over signatures of other versions and wrong ones beside the right one', () => {
    expect(check({ signature: `v1a,xxxx v2,yyyy v1,AAAA ${VECTOR.signature}` })).toEqual({
      valid: true,
    });
  });

  it('holds up to the tolerance and no longer', () => {
    expect(check({ now: VECTOR.timestamp + 300 })).toEqual({ valid: true });
    expect(check({ now: VECTOR.timestamp + 301 })).toEqual({ valid: false, reason: 'too_old' });
    expect(check({ now: VECTOR.timestamp - 301 })).toEqual({ valid: false, reason: 'too_new' });
    expect(check({ now: VECTOR.timestamp + 11, toleranceSeconds: 10 })).toEqual({
      valid: false,
      reason: 'too_old',
    });
  });

  it.each([
    [{ id: '' }, 'malformed_header'],
    [{ signature: ' ' }, 'malformed_header'],
    [{ timestamp: '1614265330.5' }, 'malformed_timestamp'],
    [{ timestamp: '' }, 'malformed_timestamp'],
    [{ id: 'msg_other' }, 'no_matching_signature'],
    [{ body: '{"test": 2432232315}' }, 'no_matching_signature'],
    [{ signature: 'v1,' }, 'no_matching_signature'],
    [{ signature: VECTOR.signature.slice(3) }, 'no_matching_signature'],
    [{ secrets: [newSecret()] }, 'no_matching_signature'],
  ])('refuses %j as %s', (changes, reason) => {
    expect(check(changes)).toEqual({ valid: false, reason });
  });
});
