import * as fc from 'fast-check';
import { decodeCursor, encodeCursor } from './cursor';

const key = new Uint8Array(32).fill(7);
const scope = { organizationId: 'org', list: 'mail', filter: { status: 'open', label: undefined } };

describe('a cursor', () => {
  it('gives back its position, whatever the position', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { minLength: 1 }),
        (position) => {
          expect(decodeCursor(key, scope, encodeCursor(key, scope, position))).toEqual(position);
        },
      ),
    );
  });

  it('does not care for absent filters and their order', () => {
    const made = encodeCursor(key, { ...scope, filter: { a: 1, b: 'x', c: null } }, [1]);
    expect(decodeCursor(key, { ...scope, filter: { b: 'x', a: 1 } }, made)).toEqual([1]);
  });

  it('is refused for another tenant, list, filter or key', () => {
    const made = encodeCursor(key, scope, ['2026', 'id']);
    for (const [otherKey, other] of [
      [key, { ...scope, organizationId: 'other' }],
      [key, { ...scope, list: 'drafts' }],
      [key, { ...scope, filter: { status: 'closed' } }],
      [new Uint8Array(32), scope],
    ] as const) {
      expect(() => decodeCursor(otherKey, other, made)).toThrow('cursor is not one');
    }
  });

  it('is refused when any of it was altered, and when it is no cursor at all', () => {
    const made = encodeCursor(key, scope, [1, 'x']);
    fc.assert(
      fc.property(fc.nat(made.length - 2), (position) => {
        const letter = made[position] === 'A' ? 'B' : 'A';
        const altered = made.slice(0, position) + letter + made.slice(position + 1);
        expect(() => decodeCursor(key, scope, altered)).toThrow('cursor is not one');
      }),
    );
    for (const text of ['', 'x', '{}', '....']) {
      expect(() => decodeCursor(key, scope, text)).toThrow('cursor is not one');
    }
  });
});
