import { createSealing } from './sealing';

const SECRET = 'x'.repeat(32);

describe('sealed texts', () => {
  it('open for the same secret and the same context', () => {
    const sealed = createSealing(SECRET).seal('whsec_ä', 'org-1');
    expect(createSealing(SECRET).open(sealed, 'org-1')).toBe('whsec_ä');
    expect(sealed.toString('latin1')).not.toContain('whsec');
  });

  it('differ each time they are sealed', () => {
    const sealing = createSealing(SECRET);
    expect(sealing.seal('a', 'b').equals(sealing.seal('a', 'b'))).toBe(false);
  });

  it('stay closed for another secret, another context, or when changed', () => {
    const sealed = createSealing(SECRET).seal('text', 'org-1');
    expect(() => createSealing('y'.repeat(32)).open(sealed, 'org-1')).toThrow();
    expect(() => createSealing(SECRET).open(sealed, 'org-2')).toThrow();
    sealed[14]! ^= 1;
    expect(() => createSealing(SECRET).open(sealed, 'org-1')).toThrow();
  });
});
