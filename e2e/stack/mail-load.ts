import { connect } from 'node:net';
import type { SmtpSink } from '@dak/testing/smtp-sink';
import type { RunningDak } from './running-dak';

/** One whole SMTP transaction; resolves with the subject once 250 was said, null if the server died first. */
export function deliver(port: number, to: string, subject: string): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const steps = [
      'EHLO client.example\r\n',
      'MAIL FROM:<ada@example.org>\r\n',
      `RCPT TO:<${to}>\r\n`,
      'DATA\r\n',
      `From: ada@example.org\r\nTo: ${to}\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@example.org>\r\n\r\n${'x'.repeat(2000)}\r\n.\r\n`,
    ];
    let buffered = '';
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      buffered += text;
      if (!/^\d{3} .*\r\n$/m.test(buffered)) return;
      const isFinal = steps.length === 0;
      const isGood = /^[23]/.test(buffered);
      buffered = '';
      if (isFinal || !isGood) {
        resolve(isFinal && isGood ? subject : null);
        socket.destroy();
        return;
      }
      socket.write(steps.shift()!);
    });
    socket.on('error', () => resolve(null));
    socket.on('close', () => resolve(null));
  });
}

/** Subjects in a mailbox, of each conversation once: what comes in meanwhile moves others to the next page. */
export async function subjectsIn(dak: RunningDak, mailbox: string): Promise<string[]> {
  const subjects = new Map<string, string>();
  for (let page = 1; ; page += 1) {
    const { body } = await dak.api(
      'GET',
      `/conversations?mailbox=${mailbox}&per_page=100&page=${page}&status=all`,
    );
    for (const { id, subject } of body.data as { id: string; subject: string }[]) {
      subjects.set(id, subject);
    }
    if (!body.has_more) return [...subjects.values()];
  }
}

/** A send whose key allows to repeat it; resolves with the subject once 201 was said, null for anything else. */
export async function compose(
  dak: RunningDak,
  mailboxId: string,
  subject: string,
): Promise<string | null> {
  try {
    const { status } = await dak.api(
      'POST',
      '/compose/send',
      {
        mailbox_id: mailboxId,
        to: ['someone@elsewhere.example'],
        subject,
        body_text: 'hello',
      },
      { 'idempotency-key': subject },
    );
    return status === 201 ? subject : null;
  } catch {
    return null;
  }
}

/** Subjects of what the sink said 250 to, in the order of arrival. */
export function arrivedAt(sink: SmtpSink): string[] {
  return sink.messages
    .filter(({ acknowledged }) => acknowledged)
    .map(({ raw }) => /^Subject: (.*)$/m.exec(raw.toString())![1]!.trim());
}
