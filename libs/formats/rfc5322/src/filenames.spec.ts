import fc from 'fast-check';
import { safeFilename } from './filenames';

describe('safeFilename', () => {
  it.each([
    ['report.pdf', 'report.pdf'],
    ['/u/nsb/RFC-MIME.ps', 'RFC-MIME.ps'],
    ['C:\\Users\\ann\\my file.pdf', 'my file.pdf'],
    ['../../etc/passwd', 'passwd'],
    ['..\\..\\boot.ini', 'boot.ini'],
    ['a\u0000b\r\nc.txt', 'a b c.txt'],
    ['exe\u202Efdp.pdf', 'exe fdp.pdf'],
    ['रिपोर्ट.pdf', 'रिपोर्ट.pdf'],
    ['.profile', '.profile'],
  ])('%j becomes %j', (declared, expected) => {
    expect(safeFilename(declared)).toBe(expected);
  });

  it.each(['', '.', '..', ' .. ', 'folder/', '../', '\u0000'])('%j is no name', (declared) => {
    expect(safeFilename(declared)).toBeNull();
  });

  it('shortens a long name and keeps its extension', () => {
    const name = safeFilename(`${'x'.repeat(5000)}.docx`);
    expect(name).toMatch(/^x+\.docx$/);
    expect(name).toHaveLength(180);
  });

  it('never leaves a separator, a control character or a dot name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (declared) => {
        const name = safeFilename(declared);

        expect(name === null || (!/[/\\\x00-\x1f]/.test(name) && !/^\.*$/.test(name))).toBe(true);
      }),
    );
  });
});
