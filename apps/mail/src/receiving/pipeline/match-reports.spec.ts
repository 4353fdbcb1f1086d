import { isOfBlindCopy } from '@dak/contracts/events';
import { reportEvents } from '../../conversations/messages/report-events';
import type { EventFacts } from '../../conversations/mail-events';
import { bouncesOf, complaintOf } from './match-reports';
import type { ReportedMails } from './reported-mail-store';

const MAILS: ReportedMails = new Map([
  [
    '<quote@our.example>',
    {
      id: 'message',
      deliveries: new Map([
        ['open@customer.example', 'd-open'],
        ['secret@customer.example', 'd-secret'],
      ]),
      blindCopies: new Set(['d-secret']),
    },
  ],
]);
const reportedMessage = { messageId: '<quote@our.example>' } as never;
const facts: EventFacts = {
  organizationId: 'organization',
  mailboxId: 'mailbox',
  departmentId: null,
  conversationId: 'conversation',
  messageId: 'report',
  sequence: 1,
  occurredAt: 0,
  actor: { type: 'external', id: null, name: 'Mailer daemon', runId: null },
};

/** Whether each report's event is only for callers who may send. */
function blindEvents(address: string): boolean[] {
  const feedback = { type: 'abuse', recipients: [address] };
  const status = {
    recipient: address,
    originalRecipient: null,
    finalRecipient: address,
    action: 'failed',
    status: '5.1.1',
    smtpCode: 550,
    hard: true,
    reason: 'unknown',
  };
  const events = reportEvents({
    imported: false,
    bounces: bouncesOf(
      { reportedMessage, feedback: null, deliveryStatus: [status] } as never,
      MAILS,
    ),
    complaint: complaintOf({ reportedMessage, feedback, deliveryStatus: [] } as never, MAILS),
  });
  return events.map((build) => isOfBlindCopy(build(facts)));
}

describe('reports about a mail with a blind copy', () => {
  it('are for who may send when they name who got it', () => {
    expect(blindEvents('Secret@customer.example')).toEqual([true, true]);
  });

  it('are for all readers when they name another', () => {
    expect(blindEvents('open@customer.example')).toEqual([false, false]);
    expect(blindEvents('stranger@elsewhere.example')).toEqual([false, false]);
  });
});
