import { baseSubject } from './subjects';

describe('baseSubject', () => {
  it.each([
    ['Hello', 'Hello', false, false],
    ['Re: x', 'x', true, false],
    ['Re:x', 'x', true, false],
    ['RE : x', 'x', true, false],
    ['Re[2]: Fwd: x', 'x', true, true],
    ['Re(3): x', 'x', true, false],
    ['Re^2: x', 'x', true, false],
    ['AW: WG: Ü', 'Ü', true, true],
    ['SV: Antw: Odp: YNT: RES: x', 'x', true, false],
    ['TR: RV: x', 'x', false, true],
    ['Re:x', 'x', true, false],
    ['回复:你好', '你好', true, false],
    ['转发: 你好', '你好', false, true],
    ['[list] Re: [list] x', 'x', true, false],
    ['[list] x', 'x', false, false],
    ['x (fwd)', 'x', false, true],
    ['[Fwd: Re: x]', 'x', true, true],
    ['[tag]', '[tag]', false, false],
    ['Re: ', '', true, false],
    ['Revolution: x', 'Revolution: x', false, false],
    ['Re x', 'Re x', false, false],
    ['  a \t b  ', 'a b', false, false],
  ])('%j has the base %j', (subject, base, isReply, isForward) => {
    expect(baseSubject(subject)).toEqual({ base, isReply, isForward });
  });

  it('is the same for composed and decomposed characters', () => {
    expect(baseSubject('Re: Gru\u0308\u00dfe').base).toBe(baseSubject('Gr\u00fc\u00dfe').base);
  });

  it('is its own base subject', () => {
    for (const subject of ['Re: [a] Fwd: [b] c (fwd)', '[Fwd: [x] y]', '[a][b] Re: ']) {
      const { base } = baseSubject(subject);
      expect(baseSubject(base)).toEqual({ base, isReply: false, isForward: false });
    }
  });
});
