import { surfaceBreaks, type PublicSurface } from './public-surface';

const SURFACE: PublicSurface = {
  document: { paths: {}, components: {} },
  events: { 'mail.sent': { type: 'object', properties: { subject: { type: 'string' } } } },
  errors: { not_found: 404 },
};

describe('what clients build on breaks', () => {
  it.each([
    [{ errors: {} }, 'the error not_found is undefined, was 404'],
    [{ errors: { not_found: 410 } }, 'the error not_found is 410, was 404'],
    [{ events: {} }, 'the event kind mail.sent is gone'],
    [{ events: { 'mail.sent': { type: 'object' } } }, 'mail.sent.subject is gone'],
  ])('by %j', (change, sentence) => {
    expect(surfaceBreaks(SURFACE, { ...SURFACE, ...change })).toEqual([sentence]);
  });

  it('not by what is added', () => {
    const errors = { ...SURFACE.errors, gone: 410 };
    expect(surfaceBreaks(SURFACE, { ...SURFACE, errors })).toEqual([]);
  });
});
