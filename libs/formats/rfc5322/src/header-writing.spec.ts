import fc from 'fast-check';
import { InvalidError } from '@dak/kernel';
import { parseAddressList } from './addresses';
import { decodeHeaderText, tidyText } from './encoded-words';
import { encodeHeaderText, foldHeader, formatAddress } from './header-writing';
import { parseMessage } from './parse-message';

const oneLine = fc.string({ unit: 'grapheme', maxLength: 120 }).map(tidyText);

describe('encodeHeaderText', () => {
  it('leaves ASCII alone and encodes only what needs it', () => {
    expect(encodeHeaderText('Re: 50% off')).toBe('Re: 50% off');
    expect(encodeHeaderText('Hello Grüße you')).toBe('Hello =?UTF-8?B?R3LDvMOfZQ==?= you');
  });

  it('encodes text that would be taken for an encoded word', () => {
    expect(decodeHeaderText(encodeHeaderText('=?utf-8?q?x?='))).toBe('=?utf-8?q?x?=');
  });

  it('reads back as it was written, in words of at most 75 characters', () => {
    fc.assert(
      fc.property(oneLine, (text) => {
        const encoded = encodeHeaderText(text);
        expect(decodeHeaderText(encoded)).toBe(text);
        expect(encoded).toMatch(/^[\t -~]*$/);
        for (const word of encoded.match(/=\?\S+\?=/g) ?? [])
          expect(word.length).toBeLessThanOrEqual(75);
      }),
    );
  });
});

describe('formatAddress', () => {
  it.each([
    [{ name: '', address: 'a@b.c' }, 'a@b.c'],
    [{ name: 'Ann Lee', address: 'a@b.c' }, 'Ann Lee <a@b.c>'],
    [{ name: 'Lee, Ann', address: 'a@b.c' }, '"Lee, Ann" <a@b.c>'],
    [{ name: 'A "B" \\', address: 'a@b.c' }, '"A \\"B\\" \\\\" <a@b.c>'],
    [{ name: 'Jörn', address: 'a@b.c' }, '=?UTF-8?B?SsO2cm4=?= <a@b.c>'],
    [{ name: '', address: '"john doe"@b.c' }, '"john doe"@b.c'],
    [{ name: '', address: 'अ@उदाहरण.भारत' }, 'अ@उदाहरण.भारत'],
  ])('%j becomes %s', (address, expected) => {
    expect(formatAddress(address)).toBe(expected);
  });

  it('reads back as it was written', () => {
    fc.assert(
      fc.property(oneLine, fc.emailAddress(), (name, address) => {
        const [read] = parseAddressList(formatAddress({ name, address }));
        expect(read?.name).toBe(name);
        expect(read?.address.toLowerCase()).toBe(address.toLowerCase());
      }),
    );
  });

  it.each([
    '',
    'ann',
    '@b.c',
    'ann@',
    'a b@c.d',
    'a@b@c.d',
    'a@b,c@d',
    '<a@b>',
    'a@b>',
    '.a@b.c',
    'a@b c',
    '"a@b.c',
  ])('refuses %j by the name of the field', (address) => {
    expect(() => formatAddress({ name: '', address }, 'cc')).toThrow(/^cc holds/);
  });
});

describe('foldHeader', () => {
  it('keeps lines within 78 characters and reads back unchanged', () => {
    fc.assert(
      fc.property(oneLine, (text) => {
        const field = foldHeader('Subject', encodeHeaderText(text));
        expect(parseMessage(Buffer.from(`${field}\r\n\r\n`)).subject).toBe(text);
        for (const line of field.split('\r\n')) {
          if (/\s\S+\s/.test(line)) expect(line.length).toBeLessThanOrEqual(78);
        }
      }),
    );
  });

  it('keeps every space of the value', () => {
    const value = `${'word  '.repeat(40)}end`;
    expect(foldHeader('X-Test', value).replaceAll('\r\n', '')).toBe(`X-Test: ${value}`);
  });

  it('refuses a bad name and a word that no line can hold', () => {
    expect(() => foldHeader('Bad Name', 'x')).toThrow(InvalidError);
    expect(() => foldHeader('X-Long', 'x'.repeat(1000))).toThrow(/^X-Long holds/);
  });
});

describe.each(['\r', '\n', '\r\n', '\0'])('%j in the input', (character) => {
  const text = `a${character}Bcc: x@y.z`;

  it('is refused in text, names, addresses and values, naming the field', () => {
    expect(() => encodeHeaderText(text, 'subject')).toThrow(/^subject must be a single line/);
    expect(() => formatAddress({ name: text, address: 'a@b.c' }, 'to')).toThrow(/^to must be/);
    expect(() => formatAddress({ name: '', address: `${text}` }, 'to')).toThrow(/^to must be/);
    expect(() => foldHeader('X-Note', text)).toThrow(/^X-Note must be/);
  });
});
