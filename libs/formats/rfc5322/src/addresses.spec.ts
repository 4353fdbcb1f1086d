import fc from 'fast-check';
import { parseAddressList } from './addresses';

const pairs = (value: string): [string, string][] =>
  parseAddressList(value).map(({ name, address }) => [name, address]);

describe('parseAddressList', () => {
  it.each<[string, string, [string, string][]]>([
    ['a name and an address', 'Ann <ann@Example.COM>', [['Ann', 'ann@example.com']]],
    ['a bare address', 'ann@example.com', [['', 'ann@example.com']]],
    ['a quoted name with a comma', '"Doe, Ann" <a@b.c>', [['Doe, Ann', 'a@b.c']]],
    [
      'escapes in a quoted name',
      '"Giant; \\"Big\\" Box" <s@x.net>',
      [['Giant; "Big" Box', 's@x.net']],
    ],
    ['initials', 'J. R. Smith <j@s.t>', [['J. R. Smith', 'j@s.t']]],
    ['a comment in place of a name', 'ann@b.c (Ann (the one))', [['Ann (the one)', 'ann@b.c']]],
    [
      'comments everywhere',
      'Pete(A \\) chap) <pete(his)@silly.test(host)>',
      [['Pete', 'pete@silly.test']],
    ],
    [
      'groups',
      'Team: a@b.c, "Q" <q@r.s>;, d@e.f',
      [
        ['', 'a@b.c'],
        ['Q', 'q@r.s'],
        ['', 'd@e.f'],
      ],
    ],
    ['an empty group', 'undisclosed-recipients:;', []],
    ['a source route', '<@hop1,@hop2:u@d.com>', [['', 'u@d.com']]],
    ['a quoted local part', '"john doe"@Example.com', [['', '"john doe"@example.com']]],
    ['a needlessly quoted local part', '<"john"@example.com>', [['', 'john@example.com']]],
    ['obsolete spaces', 'john . doe @ example . com', [['', 'john.doe@example.com']]],
    ['a domain literal', 'user@[IPv6:fe80::1]', [['', 'user@[ipv6:fe80::1]']]],
    ['a non-ASCII address', 'अ <अ@उदाहरण.भारत>', [['अ', 'अ@उदाहरण.भारत']]],
    [
      'encoded words',
      '=?iso-8859-1?q?J=F6rn?= =?iso-8859-1?q?_X?= <j@z.de>',
      [['Jörn X', 'j@z.de']],
    ],
    [
      'an encoded word with a comma inside',
      '=?utf-8?Q?Foo,_Bar?= <x@y.z>',
      [['Foo, Bar', 'x@y.z']],
    ],
    ['a quoted encoded word', '"=?utf-8?B?SsO2cm4=?=" <x@y.z>', [['Jörn', 'x@y.z']]],
    [
      'an address that an encoded word hides',
      '=?utf-8?Q?boss=40x.y=2C_?= <x@y.z>',
      [['boss@x.y,', 'x@y.z']],
    ],
  ])('reads %s', (_, value, expected) => {
    expect(pairs(value)).toEqual(expected);
  });

  it.each<[string, string, [string, string][]]>([
    [
      'a missing comma after an address',
      'A <a@b> C <c@d>',
      [
        ['A', 'a@b'],
        ['C', 'c@d'],
      ],
    ],
    [
      'a missing comma between bare addresses',
      'a@b.c d@e.f',
      [
        ['', 'a@b.c'],
        ['', 'd@e.f'],
      ],
    ],
    ['missing angle brackets', 'John Doe john@x.com', [['John Doe', 'john@x.com']]],
    [
      'semicolons as separators',
      'a@b.c; d@e.f',
      [
        ['', 'a@b.c'],
        ['', 'd@e.f'],
      ],
    ],
    [
      'empty entries',
      'a@b.c,, ,d@e.f,',
      [
        ['', 'a@b.c'],
        ['', 'd@e.f'],
      ],
    ],
    [
      'an unclosed quote',
      '"unclosed <a@b.c>, d@e.f',
      [
        ['unclosed', 'a@b.c'],
        ['', 'd@e.f'],
      ],
    ],
    [
      'an unclosed bracket',
      'Foo <a@b.c, Bar <d@e.f>',
      [
        ['Foo', 'a@b.c'],
        ['Bar', 'd@e.f'],
      ],
    ],
    ['doubled brackets', '<<a@b.c>>', [['', 'a@b.c']]],
    ['mailto', 'mailto:a@b.c', [['', 'a@b.c']]],
    ['a bare name', 'Whomever', [['Whomever', '']]],
    [
      'a mailbox without domain',
      'MAILER-DAEMON (Mail Delivery System)',
      [['Mail Delivery System', 'MAILER-DAEMON']],
    ],
    ['an empty bracket', '<>', []],
    ['line breaks inside brackets', 'A <a@b.c\r\nBcc: x@y.z>', [['A', 'a@b.cBcc:x@y.z']]],
  ])('tolerates %s', (_, value, expected) => {
    expect(pairs(value)).toEqual(expected);
  });

  it('never throws and never lets control characters through', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (value) => {
        for (const { name, address } of parseAddressList(value)) {
          expect(name + address).not.toMatch(/[\x00-\x1f\x7f]/);
          expect(name + address).not.toBe('');
        }
      }),
    );
  });
});
