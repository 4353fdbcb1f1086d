import { InvalidError } from '@dak/kernel';
import { newSecret, parseSecret } from './secret';

const ofBytes = (count: number) => `whsec_${Buffer.alloc(count, 7).toString('base64')}`;

describe('secrets of Standard Webhooks', () => {
  it('are made from 32 random bytes and read back', () => {
    const secret = newSecret();
    expect(parseSecret(secret)).toHaveLength(32);
    expect(secret).not.toBe(newSecret());
  });

  it('have 24 to 64 bytes', () => {
    expect(parseSecret(ofBytes(24))).toHaveLength(24);
    expect(parseSecret(ofBytes(64))).toHaveLength(64);
    expect(() => parseSecret(ofBytes(23))).toThrow('must encode 24 to 64 bytes');
    expect(() => parseSecret(ofBytes(65))).toThrow('must encode 24 to 64 bytes');
  });

  it.each([
    '',
    'whsec_',
    'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa!w',
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS',
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa_w',
    'WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  ])('are refused when written otherwise, without repeating them: %j', (text) => {
    const refusal = (): Error => {
      try {
        parseSecret(text);
      } catch (error) {
        if (error instanceof InvalidError) return error;
      }
      throw new Error('was accepted');
    };
    expect(refusal().message).toMatch(/^secret must be "whsec_"/);
    if (text.length > 6) expect(refusal().message).not.toContain(text.slice(6));
  });
});
