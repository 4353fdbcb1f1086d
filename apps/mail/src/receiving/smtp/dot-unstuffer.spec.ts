import fc from 'fast-check';
import { DotUnstuffer } from './dot-unstuffer';

/** Content and rest as latin1, with the input cut as told. */
function read(chunks: readonly string[]): { content: string; rest: string | null } {
  const unstuffer = new DotUnstuffer();
  let content = '';
  for (const [index, chunk] of chunks.entries()) {
    const part = unstuffer.push(Buffer.from(chunk, 'latin1'));
    content += part.content.toString('latin1');
    if (part.rest !== null) {
      const later = chunks.slice(index + 1).join('');
      return { content, rest: part.rest.toString('latin1') + later };
    }
  }
  return { content, rest: null };
}

describe('taking stuffed dots out', () => {
  it.each([
    ['ends at CRLF.CRLF', 'a\r\n.\r\nQUIT\r\n', 'a\r\n', 'QUIT\r\n'],
    ['ends at once', '.\r\nQUIT\r\n', '', 'QUIT\r\n'],
    [
      'takes one dot from every line that has one',
      '..\r\n.a\r\n...\r\n.\r\n',
      '.\r\na\r\n..\r\n',
      '',
    ],
    ['leaves dots elsewhere', 'a.\r\n b..\r\n.\r\n', 'a.\r\n b..\r\n', ''],
    ['takes no dot after a bare line break', 'a\n..b\r..c\r\n.\r\n', 'a\n..b\r..c\r\n', ''],
    ['keeps an empty line in front of the end', '\r\n.\r\n', '\r\n', ''],
  ])('%s', (_, wire, content, rest) => {
    expect(read([wire])).toEqual({ content, rest });
    expect(read([...wire])).toEqual({ content, rest });
  });

  it('gives the same however the octets are cut, and what a line by line reading gives', () => {
    const octets = fc.array(fc.constantFrom('\r', '\n', '.', '\r\n', '\r\n.', 'a'), {
      maxLength: 25,
    });
    fc.assert(
      fc.property(octets, fc.array(fc.nat(25), { maxLength: 5 }), (parts, cuts) => {
        const wire = `${parts.join('')}\r\n.\r\nrest`;
        const lines: string[] = [];
        let left = wire;
        for (;;) {
          const end = left.indexOf('\r\n');
          const line = left.slice(0, end);
          left = left.slice(end + 2);
          if (line === '.') break;
          lines.push(`${line.startsWith('.') ? line.slice(1) : line}\r\n`);
        }
        const expected = { content: lines.join(''), rest: left };
        const at = [0, ...cuts.sort((a, b) => a - b), wire.length];
        const chunks = at.slice(1).map((end, index) => wire.slice(at[index], end));
        expect(read(chunks)).toEqual(expected);
        expect(read([...wire])).toEqual(expected);
      }),
      { numRuns: 1000 },
    );
  });
});
