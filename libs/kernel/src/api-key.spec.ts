import * as fc from 'fast-check';
import { displayPrefix, formatApiKey, isWellFormedApiKey, newApiKey } from './api-key';

const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe('the form of an API key', () => {
  it('has the prefix, 43 characters of secret and 6 of checksum, whatever the secret', () => {
    fc.assert(
      fc.property(secrets, (secret) => {
        const key = formatApiKey(secret);
        expect(key).toMatch(/^svc_live_[0-9A-Za-z]{49}$/);
        expect(isWellFormedApiKey(key)).toBe(true);
      }),
    );
  });

  it('differs for different secrets', () => {
    fc.assert(
      fc.property(secrets, secrets, (a, b) => {
        fc.pre(Buffer.compare(a, b) !== 0);
        expect(formatApiKey(a)).not.toBe(formatApiKey(b));
      }),
    );
  });

  it('notices every single mistyped character', () => {
    fc.assert(
      fc.property(
        secrets,
        fc.integer({ min: 9, max: 57 }),
        fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'),
        (secret, position, letter) => {
          const key = formatApiKey(secret);
          fc.pre(key[position] !== letter);
          const mistyped = key.slice(0, position) + letter + key.slice(position + 1);
          expect(isWellFormedApiKey(mistyped)).toBe(false);
        },
      ),
    );
  });

  it('notices two neighboring characters that changed places', () => {
    fc.assert(
      fc.property(secrets, fc.integer({ min: 9, max: 56 }), (secret, position) => {
        const key = formatApiKey(secret);
        fc.pre(key[position] !== key[position + 1]);
        const swapped =
          key.slice(0, position) + key[position + 1] + key[position] + key.slice(position + 2);
        expect(isWellFormedApiKey(swapped)).toBe(false);
      }),
    );
  });

  it('refuses what is no key at all', () => {
    for (const text of ['', 'svc_live_', `svc_test_${'a'.repeat(49)}`, `${newApiKey()} `]) {
      expect(isWellFormedApiKey(text)).toBe(false);
    }
  });

  it('shows six characters of the secret', () => {
    const key = newApiKey();
    expect(displayPrefix(key)).toBe(key.slice(0, 15));
  });
});
