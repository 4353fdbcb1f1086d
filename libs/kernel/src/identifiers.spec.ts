import { isUuid, uuidv4, uuidv7 } from './identifiers';

describe('uuidv7', () => {
  it('carries the time, the version and the variant of RFC 9562', () => {
    const id = uuidv7(0x0192f0c4abcd);
    expect(id).toMatch(/^0192f0c4-abcd-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('grows strictly, also within a millisecond and when the clock steps back', () => {
    const now = Date.now();
    const ids = Array.from({ length: 20_000 }, (_, i) => uuidv7(now - (i % 3)));
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('isUuid', () => {
  it('takes both kinds in either case and nothing else', () => {
    expect(isUuid(uuidv4())).toBe(true);
    expect(isUuid(uuidv7().toUpperCase())).toBe(true);
    for (const other of ['', 'x', `${uuidv4()}0`, `${uuidv4()}\n`, 7, null]) {
      expect(isUuid(other)).toBe(false);
    }
  });
});
