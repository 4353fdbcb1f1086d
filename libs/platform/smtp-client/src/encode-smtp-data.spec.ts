import fc from 'fast-check';
import { encodeSmtpData, hasEightBitHeader, hasEightBitOctets } from './encode-smtp-data';

const encode = (text: string) => encodeSmtpData(Buffer.from(text, 'latin1')).toString('latin1');

describe('content for DATA', () => {
  it('is passed on untouched when nothing has to change', () => {
    const raw = Buffer.from('Subject: x\r\n\r\nbody\r\n');
    expect(encodeSmtpData(raw)).toBe(raw);
  });

  it.each([
    ['stuffs a leading dot', '.a\r\nb.\r\n..\r\n', '..a\r\nb.\r\n...\r\n'],
    ['completes the last line', 'a', 'a\r\n'],
    ['completes a last line that is a dot', '.', '..\r\n'],
    ['turns a bare line feed into CRLF', 'a\nb\n', 'a\r\nb\r\n'],
    ['turns a bare carriage return into CRLF', 'a\rb\r', 'a\r\nb\r\n'],
    ['does not double CRLF', 'a\r\r\n\n', 'a\r\n\r\n\r\n'],
    ['leaves nothing as nothing', '', ''],
  ])('%s', (_, raw, wire) => {
    expect(encode(raw)).toBe(wire);
  });

  it.each(['\n.\n', '\n.\r\n', '\r\n.\n', '\r.\r', '\r.\r\n', '\r\n.\r', '\r\n\u0000.\r\n'])(
    'never holds an end of data that a lenient server could see: %j',
    (end) => {
      const wire = encode(`a${end}MAIL FROM:<x@y.example>\r\n`);
      expect(wire).not.toMatch(/(?:^|[\r\n])\.(?:[\r\n]|$)/);
      expect(wire.replace(/\r\n/g, '')).not.toMatch(/[\r\n]/);
    },
  );

  it('can be read back, whatever the content', () => {
    const octets = fc.array(fc.constantFrom(0x0d, 0x0a, 0x2e, 0x61, 0xff), { maxLength: 30 });
    fc.assert(
      fc.property(octets, (values) => {
        const raw = Buffer.from(values).toString('latin1');
        const wire = encode(raw);
        const lines = wire.split('\r\n');
        expect(lines.pop()).toBe('');
        expect(lines.every((line) => !/[\r\n]/.test(line) && line !== '.')).toBe(true);
        const unstuffed = lines.map((line) => (line.startsWith('.') ? line.slice(1) : line));
        const normalized = raw.replace(/\r\n|\r|\n/g, '\r\n');
        const complete = normalized === '' || normalized.endsWith('\r\n');
        const expected = complete ? normalized : `${normalized}\r\n`;
        expect(unstuffed.map((line) => `${line}\r\n`).join('')).toBe(expected);
      }),
    );
  });

  it('is told apart by where it has octets above 127', () => {
    const raw = Buffer.from('Subject: x\r\n\r\n\u00e9\r\n');
    expect(hasEightBitOctets(raw)).toBe(true);
    expect(hasEightBitHeader(raw)).toBe(false);
    expect(hasEightBitHeader(Buffer.from('Subject: \u00e9\r\n\r\nx\r\n'))).toBe(true);
  });
});
