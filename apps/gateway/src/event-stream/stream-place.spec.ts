import { randomBytes } from 'node:crypto';
import { parsePlace, sealPlace } from './stream-place';

const key = randomBytes(32);
const NOW = 1_700_000_000_000;
const DAY_MS = 86_400_000;
const parse = (text: string, organization = 'one', at = NOW) =>
  parsePlace(text, organization, key, at);

describe('a place in the event stream', () => {
  it('is an event, by its id', () => {
    const eventId = 'evt_0199c2a4-6d3e-7c11-9a55-2f60b1d0a00b';
    expect(parse(eventId)).toEqual({ kind: 'event', eventId });
  });

  it('is a position that only its organization can use, for a month', () => {
    const place = sealPlace('one', 42, key, NOW);
    expect(parse(place)).toEqual({ kind: 'position', position: 42 });
    expect(parse(place, 'other')).toEqual({ kind: 'unknown' });
    expect(parse(place, 'one', NOW + 29 * DAY_MS)).toMatchObject({ kind: 'position' });
    expect(parse(place, 'one', NOW + 30 * DAY_MS)).toEqual({ kind: 'unknown' });
  });

  it.each([
    '',
    'evt_',
    'evt_1',
    'pos_',
    'pos_x',
    '42',
    'evt_0199c2a4-6d3e-7c11-9a55-2f60b1d0a00bx',
  ])('is unknown: %p', (text) => {
    expect(parse(text)).toEqual({ kind: 'unknown' });
  });
});
