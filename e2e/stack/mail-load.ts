import type { SmtpSink } from '@dak/testing/smtp-sink';
import type { RunningDak } from './running-dak';

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
