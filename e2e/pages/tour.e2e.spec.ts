import { startSmtpSink, openSmtpDialog } from '@dak/testing/smtp-sink';
import { eventually } from '@dak/testing/waiting';
import { removeDataDir, startDak, temporaryDataDir } from '../stack/running-dak';

describe('the standalone process', () => {
  const dataDir = temporaryDataDir();
  afterAll(() => removeDataDir(dataDir));

  it('receives, shows, answers, and remembers after a stop', async () => {
    const sink = await startSmtpSink();
    const environment = { DAK_MAIL_TRANSPORT: `smtp://127.0.0.1:${sink.port}` };
    let dak = await startDak(dataDir, environment);
    const first = dak.bootstrap;
    const mailbox = first.mailboxes[0]!;

    const dialog = openSmtpDialog(first.smtp.port);
    await dialog.replies(1);
    await dialog.say('EHLO client.example\r\n');
    await dialog.say('MAIL FROM:<ada@example.org>\r\n');
    await dialog.say(`RCPT TO:<${mailbox.address}>\r\n`);
    await dialog.say('DATA\r\n');
    const answer = await dialog.say(
      `From: Ada <ada@example.org>\r\nTo: ${mailbox.address}\r\nSubject: Lamp\r\nMessage-ID: <lamp@example.org>\r\n\r\nIt is dark.\r\n.\r\n`,
    );
    expect(answer).toMatch(/^250/);
    dialog.socket.destroy();

    const conversation = await eventually('the mail is listed', async () => {
      const { body } = await dak.api('GET', '/conversations');
      return body.data[0];
    });
    expect(conversation).toMatchObject({ subject: 'Lamp', status: 'open', unread_count: 1 });

    const reply = await dak.api('POST', `/conversations/${conversation.id}/reply`, {
      body_text: 'Try another bulb.',
    });
    expect(reply.status).toBe(201);
    await sink.waitForMessages(1, 10_000);
    const raw = sink.messages[0]!.raw.toString();
    expect(raw).toContain('In-Reply-To: <lamp@example.org>');
    expect(raw).toMatch(/^References: <lamp@example\.org>/m);
    expect(raw).toMatch(/^Subject: Re: Lamp/m);
    expect(sink.messages[0]!.mailFrom).toBe(mailbox.address);

    expect(await dak.stop()).toBe(0);
    dak = await startDak(dataDir, environment);
    expect(dak.bootstrap.api_key).toBe(first.api_key);
    expect(dak.bootstrap.mailboxes).toEqual(first.mailboxes);
    const { body } = await dak.api('GET', `/conversations/${conversation.id}/messages`);
    expect(body.data.map((message: { direction: string }) => message.direction)).toEqual([
      'inbound',
      'outbound',
    ]);
    expect(await dak.stop()).toBe(0);
    await sink.stop();
  }, 90_000);

  it('says in one sentence why it cannot start', async () => {
    const dak = await startDak(dataDir);
    await expect(startDak(dataDir)).rejects.toThrow(/in use by another running Dak/);
    const { port } = new URL(dak.bootstrap.base_url);
    const busy = startDak(temporaryDataDir(), { DAK_HTTP_PORT: port });
    await expect(busy).rejects.toThrow(new RegExp(`port ${port} is in use`));
    await expect(startDak(temporaryDataDir(), { DAK_HTTP_PROT: '1' })).rejects.toThrow(
      'DAK_HTTP_PROT is not a setting of Dak (did you mean DAK_HTTP_PORT?)',
    );
    await dak.stop();
  }, 90_000);
});
