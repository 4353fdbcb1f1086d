import { SmtpProtocolError, SmtpReplyParser, type SmtpReply } from './smtp-reply';

function parse(...chunks: string[]): SmtpReply[] {
  const parser = new SmtpReplyParser();
  const replies: SmtpReply[] = [];
  for (const chunk of chunks) {
    parser.push(Buffer.from(chunk), (reply) => replies.push(reply));
  }
  return replies;
}

describe('SMTP replies', () => {
  it('are read with their enhanced status code', () => {
    expect(parse('550 5.1.1 No such user\r\n')).toEqual([
      { code: 550, enhanced: '5.1.1', lines: ['No such user'], text: 'No such user' },
    ]);
  });

  it('are joined over several lines, and cut anywhere', () => {
    const whole = '550-5.7.1 Not today,\r\n550 5.7.1 see https://x.example\r\n250 ok\r\n';
    const [first, second] = parse(...whole);
    expect(first).toMatchObject({ code: 550, enhanced: '5.7.1' });
    expect(first?.text).toBe('Not today, see https://x.example');
    expect(second).toMatchObject({ code: 250, enhanced: null, text: 'ok' });
  });

  it('may consist of the code alone and end in a bare line feed', () => {
    expect(parse('250\r\n354 \n250-\n250\n').map(({ code, text }) => [code, text])).toEqual([
      [250, ''],
      [354, ''],
      [250, ''],
    ]);
  });

  it('lose control characters and keep UTF-8', () => {
    expect(parse('550 caf\u00e9 \u0000\u001b[31m\r\n')[0]?.text).toBe('caf\u00e9   [31m');
  });

  it.each([
    ['no code', 'hello\r\n'],
    ['a code out of range', '199 x\r\n'],
    ['a code that changes', '250-a\r\n251 b\r\n'],
    ['a line without end', 'x'.repeat(5000)],
    ['a long line', `250 ${'x'.repeat(5000)}\r\n`],
    ['lines without end', '250-x\r\n'.repeat(300)],
  ])('are refused with %s', (_, text) => {
    expect(() => parse(text)).toThrow(SmtpProtocolError);
  });

  it('before nonsense still count', () => {
    const parser = new SmtpReplyParser();
    const replies: number[] = [];
    const push = () =>
      parser.push(Buffer.from('250 ok\r\nnonsense\r\n'), ({ code }) => replies.push(code));
    expect(push).toThrow(SmtpProtocolError);
    expect(replies).toEqual([250]);
  });
});
