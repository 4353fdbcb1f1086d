import { shownHeaders, withoutBlindCopies } from './blind-copies';

async function cleaned(text: string, size: number): Promise<string> {
  async function* chunks(): AsyncGenerator<Buffer> {
    for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size));
  }
  const parts: Buffer[] = [];
  for await (const part of withoutBlindCopies(chunks())) parts.push(part);
  return Buffer.concat(parts).toString();
}

describe('a message without its blind copies', () => {
  const raw = [
    'From: a@x.example',
    'bcc: secret@y.example,',
    '\tother@y.example',
    'Subject: Bcc: is no field here',
    'Resent-Bcc : third@y.example',
    '',
    'Bcc: stays in the body',
    '',
  ].join('\r\n');
  const shown =
    'From: a@x.example\r\nSubject: Bcc: is no field here\r\n\r\nBcc: stays in the body\r\n';

  it.each([1, 7, 50, 10_000])(
    'is the same without the fields, read in pieces of %i',
    async (size) => {
      expect(await cleaned(raw, size)).toBe(shown);
      expect(await cleaned(raw.replaceAll('\r\n', '\n'), size)).toBe(
        shown.replaceAll('\r\n', '\n'),
      );
    },
  );

  it('may have no body', async () => {
    expect(await cleaned('From: a@x.example\r\nBcc: b@x.example\r\n', 9)).toBe(
      'From: a@x.example\r\n',
    );
    expect(await cleaned('', 9)).toBe('');
  });

  it('has headers without them', () => {
    expect(shownHeaders({ From: ['a'], BCC: ['b'], 'Resent-Bcc': ['c'] })).toEqual({ From: ['a'] });
  });
});
