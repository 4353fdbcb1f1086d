import fc from 'fast-check';
import { parseMessage, type Part } from '../src';
import { allCorpusMessages, withLineEnds } from './corpus';

const corpus = allCorpusMessages();

/** A corpus message with stretches removed, repeated or overwritten. */
const mutated = fc
  .tuple(
    fc.constantFrom(...corpus),
    fc.array(
      fc.record({
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        length: fc.nat(200),
        kind: fc.constantFrom('drop', 'repeat', 'overwrite'),
        bytes: fc.uint8Array({ maxLength: 40 }),
      }),
      { minLength: 1, maxLength: 6 },
    ),
  )
  .map(([message, changes]) =>
    changes.reduce<Buffer>((raw, { at, length, kind, bytes }) => {
      const start = Math.floor(at * raw.length);
      const piece =
        kind === 'drop'
          ? Buffer.alloc(0)
          : kind === 'repeat'
            ? raw.subarray(start, start + length)
            : bytes;
      const from = kind === 'repeat' ? start : start + length;
      return Buffer.concat([raw.subarray(0, start), piece, raw.subarray(from)]);
    }, message),
  );

/** Line-oriented noise that hits the grammar more often than random bytes do. */
const noise = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\n',
        '\r\n',
        '\r',
        '\n\n',
        '--',
        '--b',
        '--b--',
        '\n--b\n',
        '\n--b--\n',
        ' ',
        '\t',
        ':',
        ';',
        '"',
        '<',
        '>',
        '(',
        ')',
        '\\',
        '@',
        '=',
        '=?utf-8?q?',
        '?=',
        '=?x?b?',
        'Content-Type: multipart/mixed; boundary=b\n',
        'Content-Type: message/rfc822\n',
        'Content-Type: multipart/digest; boundary="b"\r\n',
        'Content-Type: text/plain; charset=utf-7\n',
        'Content-Type: text/html; charset=iso-2022-jp\n',
        'Content-Transfer-Encoding: base64\n',
        'Content-Transfer-Encoding: quoted-printable\n',
        'Content-Disposition: attachment; filename*0*=',
        'To: ',
        'From: ',
        'Date: ',
        'Subject: ',
        'Message-ID: ',
        'References: ',
        '__proto__: x\n',
        'constructor: x\n',
      ),
      fc.string({ maxLength: 8, unit: 'binary' }),
    ),
    { maxLength: 60 },
  )
  .map((pieces) => Buffer.from(pieces.join(''), 'latin1'));

function shape(part: Part): unknown {
  return [part.path, part.contentType, part.headers, part.children.map(shape)];
}

describe('any bytes at all', () => {
  it('never throw and never hang', () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 400 }), mutated, noise), (raw) => {
        const message = parseMessage(raw);
        expect(message.leaves.every((leaf) => leaf.children.length === 0)).toBe(true);
      }),
      { numRuns: 1500 },
    );
  });

  it('give every leaf a path of its own', () => {
    fc.assert(
      fc.property(fc.oneof(mutated, noise), (raw) => {
        const paths = parseMessage(raw).leaves.map((leaf) => leaf.path);
        expect(new Set(paths).size).toBe(paths.length);
      }),
      { numRuns: 300 },
    );
  });

  it('list every leaf of the message as body or attachment', () => {
    fc.assert(
      fc.property(fc.oneof(mutated, noise), (raw) => {
        const { root, text, html, attachments } = parseMessage(raw);
        const own = countOwnLeaves(root);
        const shown = (text === null ? 0 : 1) + (html === null ? 0 : 1);
        // An empty body is neither shown nor attached.
        expect(attachments.length + shown).toBeLessThanOrEqual(own);
        expect(attachments.length + 2).toBeGreaterThanOrEqual(own);
      }),
      { numRuns: 300 },
    );
  });

  it('are never changed by reading', () => {
    fc.assert(
      fc.property(mutated, (raw) => {
        const before = Buffer.from(raw);
        parseMessage(raw);
        expect(before.equals(raw)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});

function countOwnLeaves(part: Part): number {
  if (!part.contentType.startsWith('multipart/')) return 1;
  return part.children.reduce((sum, child) => sum + countOwnLeaves(child), 0);
}

describe('line ends', () => {
  it.each(['\r\n', '\r'] as const)('%j gives the tree and the texts that LF gives', (lineEnd) => {
    for (const raw of corpus) {
      const lf = withLineEnds(raw, '\n');
      // A bare CR inside the message would become a line end of its own.
      if (lf.includes('\r')) continue;
      const expected = parseMessage(lf);
      const other = parseMessage(withLineEnds(raw, lineEnd));
      expect(shape(other.root)).toEqual(shape(expected.root));
      expect(other.text).toBe(expected.text);
      expect(other.html).toBe(expected.html);
    }
  });
});

describe('hostile messages', () => {
  const LIMIT_MS = 5_000;

  function timed(raw: string): ReturnType<typeof parseMessage> {
    const started = performance.now();
    const message = parseMessage(Buffer.from(raw, 'latin1'));
    expect(performance.now() - started).toBeLessThan(LIMIT_MS);
    return message;
  }

  it('with 10 000 parts keep the first ones and one opaque rest', () => {
    const head = 'Content-Type: multipart/mixed; boundary=b\n\n';
    const { leaves, defects } = timed(`${head}${'--b\n\nhi\n'.repeat(10_000)}--b--\n`);
    expect(leaves).toHaveLength(1000);
    expect(leaves.at(-1)?.contentType).toBe('application/octet-stream');
    expect(leaves.at(-1)?.content.length).toBe(9001 * 8 + '--b--\n'.length);
    expect(defects).toContain('too_many_parts');
  });

  it('nested 2000 deep become one opaque leaf at the limit', () => {
    let raw = '';
    for (let level = 0; level < 2000; level += 1) {
      raw += `Content-Type: multipart/mixed; boundary=b${level}\n\n--b${level}\n`;
    }
    const { leaves, defects } = timed(raw);
    expect(leaves.map((leaf) => leaf.contentType)).toEqual(['application/octet-stream']);
    expect(defects).toContain('too_deep');
  });

  it('with messages encoded within messages end at the nesting limit', () => {
    let raw = Buffer.from('Subject: core\n\nx');
    for (let level = 0; level < 40; level += 1) {
      const head = 'Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n';
      raw = Buffer.from(head + raw.toString('base64'));
    }
    expect(timed(raw.toString('latin1')).defects).toContain('too_deep');
  });

  it.each([
    [
      'endless boundary prefixes',
      `Content-Type: multipart/mixed; boundary="${'a'.repeat(100_000)}"\n\n${`--${'a'.repeat(99_999)}\n`.repeat(50)}`,
    ],
    [
      'dashes only',
      `Content-Type: multipart/mixed; boundary="${'-'.repeat(70)}"\n\n${`${'-'.repeat(69)}\n`.repeat(30_000)}`,
    ],
    ['a header line of 1 MB', `X: ${'a'.repeat(1 << 20)}\nSubject: s\n\nbody`],
    ['a header of 100 000 lines without a colon', `${'abc\n'.repeat(100_000)}a: b\n`],
    ['a folded header of 200 000 carriage returns', `Subject: a\n ${'\r'.repeat(200_000)}\n\nbody`],
    ['parameters of semicolons', `Content-Type: text/plain${';'.repeat(250_000)}\n\n`],
    ['parameters of spaces', `Content-Type: text/plain; x=a${' '.repeat(250_000)}b\n\n`],
    ['base64 of spaces', `Content-Transfer-Encoding: base64\n\n${' '.repeat(2_000_000)}-`],
    [
      'quoted-printable of spaces',
      `Content-Transfer-Encoding: quoted-printable\n\n${`=${' '.repeat(1000)}`.repeat(1000)}`,
    ],
    ...[
      '<',
      '"',
      '(',
      '\\',
      '@[',
      '=?',
      '=?a?q?',
      '("',
      '<a ',
      '<"',
      ',',
      ':',
      '[a]',
      're:',
      'a@b ',
    ].map((piece): [string, string] => [
      `headers of ${piece}`,
      ['To', 'Subject', 'Date', 'References', 'Content-Disposition']
        .map((name) => `${name}: ${piece.repeat(Math.floor(50_000 / piece.length))}\n`)
        .join(''),
    ]),
  ])('made of %s are read in time', (_, raw) => {
    expect(timed(raw).root.headers.length).toBeLessThan(10);
  });

  it('cut the header at its limit and still find the body', () => {
    const message = timed(`Subject: s\nX: ${'a'.repeat(300 * 1024)}\n\nbody`);
    expect([message.subject, message.text, message.defects]).toEqual([
      's',
      'body',
      ['header_too_large'],
    ]);
  });

  it('cannot reach object prototypes through header or parameter names', () => {
    const { root, headers } = timed(
      '__proto__: polluted\nconstructor: x\nContent-Type: text/plain; __proto__=polluted; constructor=x\n\n',
    );
    expect(headers.map(({ name }) => name)).toEqual(['__proto__', 'constructor', 'Content-Type']);
    expect(root.parameters.get('__proto__')).toBe('polluted');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.getPrototypeOf(root)).toBe(Object.prototype);
  });
});
