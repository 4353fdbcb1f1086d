import { eventually } from '@dak/testing/waiting';
import { delay, drop, reply, replyAndClose, silence, tryAgainIn, write } from './sink-script';
import { openSmtpDialog, type SmtpDialog } from './smtp-dialog';
import { startSmtpSink, type SmtpSink, type SmtpSinkOptions } from './smtp-sink';

let sink: SmtpSink;
let dialog: SmtpDialog;

afterEach(async () => {
  dialog.socket.destroy();
  await sink.stop();
});

async function start(options: SmtpSinkOptions = {}): Promise<SmtpDialog> {
  sink = await startSmtpSink(options);
  dialog = openSmtpDialog(sink.port);
  return dialog;
}

describe('the SMTP sink', () => {
  it('keeps what it accepts: envelope, content on the wire and unstuffed', async () => {
    const dialog = await start();
    expect(await dialog.until(/\n/)).toBe('220 sink SMTP\r\n');
    expect(await dialog.say('EHLO client.example\r\n')).toContain('250-PIPELINING\r\n');
    await dialog.say('MAIL FROM:<a@x.example> SIZE=10 BODY=8BITMIME\r\n');
    await dialog.say('RCPT TO:<b@y.example>\r\n');
    await dialog.say('DATA\r\n');
    expect(await dialog.say('..dot\r\nline\r\n.\r\n')).toMatch(/^250 /);
    const [message] = await sink.waitForMessages(1);
    expect(message).toMatchObject({
      helo: 'client.example',
      mailFrom: 'a@x.example',
      mailParameters: 'SIZE=10 BODY=8BITMIME',
      recipients: ['b@y.example'],
      acknowledged: true,
      tls: false,
    });
    expect(message?.raw.toString()).toBe('.dot\r\nline\r\n');
    expect(message?.wire.toString()).toBe('..dot\r\nline\r\n');
  });

  it('answers pipelined commands in order and takes an empty message', async () => {
    const dialog = await start();
    dialog.socket.write(
      'EHLO c\r\nMAIL FROM:<>\r\nRCPT TO:<b@y.example>\r\nDATA\r\n.\r\nRSET\r\nQUIT\r\n',
    );
    const text = await dialog.until(/^221 /m);
    expect(text.match(/^\d{3} /gm)?.join('')).toBe('220 250 250 250 354 250 250 221 ');
    expect(sink.messages[0]).toMatchObject({ mailFrom: '' });
    expect(sink.messages[0]?.raw).toHaveLength(0);
  });

  it('answers once per recipient in LMTP', async () => {
    const dialog = await start({ protocol: 'lmtp' });
    sink.setScript((event) =>
      event.phase === 'final_dot' && event.recipient === 'c@y.example'
        ? reply(452, '4.2.2 Full')
        : undefined,
    );
    dialog.socket.write(
      'LHLO c\r\nMAIL FROM:<>\r\nRCPT TO:<b@y.example>\r\nRCPT TO:<c@y.example>\r\nDATA\r\nx\r\n.\r\nQUIT\r\n',
    );
    const text = await dialog.until(/^221 /m);
    expect(text).toMatch(/354 [^\n]*\n250 [^\n]*\n452 4\.2\.2 Full\r\n221/);
    expect(sink.messages).toHaveLength(1);
  });

  it('does what the script says in each phase', async () => {
    const dialog = await start();
    await dialog.until(/\n/);
    sink.onNext('ehlo', reply(421, '4.3.2 Later'));
    expect(await dialog.say('EHLO c\r\n')).toBe('421 4.3.2 Later\r\n');
    sink.onNext('mail', tryAgainIn(120));
    expect(await dialog.say('MAIL FROM:<>\r\n')).toContain('try again in 120 seconds');
    sink.onNext('noop', write('250-a\r\n250 b\r\n'), 2);
    expect(await dialog.say('NOOP\r\n')).toBe('250-a\r\n250 b\r\n');
    expect(await dialog.say('NOOP\r\n')).toBe('250-a\r\n250 b\r\n');
    expect(await dialog.say('NOOP\r\n')).toBe('250 2.0.0 Ok\r\n');
    sink.onNext('noop', delay(30, reply(250, 'late')));
    const before = Date.now();
    expect(await dialog.say('NOOP\r\n')).toBe('250 late\r\n');
    expect(Date.now() - before).toBeGreaterThanOrEqual(25);
    sink.onNext('noop', replyAndClose(421, 'Bye'));
    expect(await dialog.say('NOOP\r\n')).toBe('421 Bye\r\n');
    await dialog.end();
    expect(sink.events.map(({ phase }) => phase)).toContain('mail');
  });

  it('drops the connection in the middle of the content without keeping the message', async () => {
    const dialog = await start({
      script: (event) => (event.phase === 'body' && event.bytes > 1000 ? drop() : undefined),
    });
    dialog.socket.write('EHLO c\r\nMAIL FROM:<>\r\nRCPT TO:<b@y.example>\r\nDATA\r\n');
    await dialog.until(/^354 /m);
    dialog.socket.write('x'.repeat(2000));
    await dialog.end();
    expect(sink.messages).toHaveLength(0);
  });

  it('keeps a message as unacknowledged when it drops after the final dot', async () => {
    const dialog = await start();
    sink.onNext('final_dot', drop());
    dialog.socket.write('EHLO c\r\nMAIL FROM:<>\r\nRCPT TO:<b@y.example>\r\nDATA\r\n');
    await dialog.until(/^354 /m);
    dialog.socket.write('x\r\n.\r\n');
    await dialog.end();
    expect(sink.messages).toMatchObject([{ acknowledged: false }]);
  });

  it('stays silent and keeps the connection open', async () => {
    const dialog = await start();
    await dialog.until(/\n/);
    sink.onNext('noop', silence());
    dialog.socket.write('NOOP\r\nNOOP\r\n');
    // The sink has taken the line, and whatever it says to it comes before this.
    await eventually(() => sink.events.some(({ phase }) => phase === 'noop'));
    const later = openSmtpDialog(sink.port);
    await later.until(/\n/);
    later.socket.destroy();
    expect(dialog.text).toBe('');
    expect(dialog.closed).toBe(false);
  });

  it('speaks STARTTLS and checks AUTH PLAIN and LOGIN', async () => {
    const dialog = await start({
      extensions: { startTls: true, auth: ['PLAIN', 'LOGIN'] },
      credentials: { user: 'u', secret: 's' },
    });
    await dialog.until(/\n/);
    expect(await dialog.say('EHLO c\r\n')).toContain('250-STARTTLS');
    expect(await dialog.say('STARTTLS\r\n')).toMatch(/^220 /);
    const inside = dialog.secure();
    expect(await inside.say('EHLO c\r\n')).not.toContain('STARTTLS');
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    expect(await inside.say(`AUTH PLAIN ${base64('\0u\0wrong')}\r\n`)).toMatch(/^535 /);
    expect(await inside.say(`AUTH PLAIN ${base64('\0u\0s')}\r\n`)).toMatch(/^235 /);
    expect(await inside.say('AUTH LOGIN\r\n')).toBe('334 VXNlcm5hbWU6\r\n');
    expect(await inside.say(`${base64('u')}\r\n`)).toBe('334 UGFzc3dvcmQ6\r\n');
    expect(await inside.say(`${base64('s')}\r\n`)).toMatch(/^235 /);
    inside.socket.destroy();
  });

  it('counts and forgets in discard mode, however the octets are cut', async () => {
    const dialog = await start({ discard: true });
    const session =
      'EHLO c\r\nMAIL FROM:<>\r\nRCPT TO:<b@y.example>\r\nDATA\r\nx\r\n..\r\n.\r\n'.repeat(3) +
      'QUIT\r\n';
    dialog.socket.setNoDelay(true);
    for (const octet of session) {
      dialog.socket.write(octet);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const text = await dialog.until(/^221 /m);
    expect(text.match(/^354 /gm)).toHaveLength(3);
    expect(sink.accepted).toBe(3);
    expect(sink.messages).toHaveLength(0);
  });
});
