import { openSmtpDialog, type SmtpDialog } from '@dak/testing/smtp-sink';

export interface OutgoingMail {
  /** @default 'ada@elsewhere.example' */
  from?: string;
  to: readonly string[];
  /** Header and body; ends and dots are put right for the wire. */
  raw: string | Buffer;
  /** The address of the loopback interface that sends. @default '127.0.0.1' */
  client?: string;
}

/** Opens a session and greets. */
export async function openSession(port: number, client?: string): Promise<SmtpDialog> {
  const dialog = openSmtpDialog(port, client);
  await dialog.replies(1);
  await dialog.say('EHLO client.example\r\n');
  return dialog;
}

/** One transaction in an open session; the last reply, be it of a recipient that was refused. */
export async function transact(dialog: SmtpDialog, mail: OutgoingMail): Promise<string> {
  const from = mail.from ?? 'ada@elsewhere.example';
  const commands = [
    `MAIL FROM:<${from}>\r\n`,
    ...mail.to.map((address) => `RCPT TO:<${address}>\r\n`),
    'DATA\r\n',
  ];
  for (const command of commands) {
    const reply = await dialog.say(command);
    if (!/^[23]/.test(reply)) {
      await dialog.say('RSET\r\n');
      return reply;
    }
  }
  return dialog.say(onTheWire(mail.raw));
}

/** A session for one mail; the reply to its end. */
export async function sendMail(port: number, mail: OutgoingMail): Promise<string> {
  const dialog = await openSession(port, mail.client);
  try {
    return await transact(dialog, mail);
  } finally {
    dialog.socket.destroy();
  }
}

/** Lines that begin with a dot get a second one, and the end of data follows (RFC 5321 §4.5.2). */
export function onTheWire(raw: string | Buffer): Buffer {
  const text = Buffer.from(raw).toString('latin1');
  const stuffed = text.replace(/(^|\r\n)\./g, '$1..');
  const end = stuffed.endsWith('\r\n') || stuffed === '' ? '.\r\n' : '\r\n.\r\n';
  return Buffer.from(stuffed + end, 'latin1');
}
