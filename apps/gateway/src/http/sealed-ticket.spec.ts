import { randomBytes } from 'node:crypto';
import { openTicket, sealTicket } from './sealed-ticket';

const key = randomBytes(32);
const NOW = 1_700_000_000_000;
const sealed = (purpose = 'download') =>
  sealTicket(key, purpose, { expiresAt: NOW + 1_000, content: { id: 'ä1' } });
const open = (text: string, { purpose = 'download', by = key, at = NOW } = {}) =>
  openTicket(by, purpose, text, at);

describe('a sealed ticket', () => {
  it('gives its content back, and shows nothing of it', () => {
    expect(open(sealed())).toEqual({ id: 'ä1' });
    expect(sealed()).toMatch(/^[\w-]+$/);
    expect(Buffer.from(sealed(), 'base64url').toString('latin1')).not.toContain('id');
    expect(sealed()).not.toBe(sealed());
  });

  it.each([
    ['another purpose', sealed(), { purpose: 'preview' }],
    ['another key', sealed(), { by: randomBytes(32) }],
    ['its time over', sealed(), { at: NOW + 1_000 }],
    ['a part of it', sealed().slice(0, -3), {}],
    ['less than a ticket', 'abcd', {}],
    ['nothing', '', {}],
    ['something else', '../../etc/passwd', {}],
  ])('is a miss with %s', (_, text, options) => {
    expect(() => open(text, options)).toThrow(expect.objectContaining({ kind: 'not_found' }));
  });

  it('is a miss wherever a byte of it was changed', () => {
    const bytes = Buffer.from(sealed(), 'base64url');
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      expect(() => open(changed.toString('base64url'))).toThrow();
    }
  });
});
