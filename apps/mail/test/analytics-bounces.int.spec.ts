import {
  BounceReceived,
  ComplaintReceived,
  type EventEnvelope,
  MailReceived,
} from '@dak/contracts/events';
import { uuidv7 } from '@dak/kernel';
import { recordMessages } from '../src/conversations/messages/record-messages';
import { openInbound, rawMessage, type InboundParts } from './inbound-fixtures';
import {
  insertMailbox,
  newConversationIn,
  newMessage,
  openMailDatabase,
  outboxEvents,
  type MailDatabase,
} from './mail-fixtures';

describe('reports that arrive', () => {
  let mail: MailDatabase;
  let inbound: InboundParts;
  const organizationId = uuidv7();
  beforeAll(async () => {
    mail = await openMailDatabase();
    inbound = await openInbound(mail.database);
  });
  afterAll(async () => {
    await inbound.close();
    await mail.close();
  });

  it('become one bounce per recipient, each with the delivery that failed', async () => {
    const { mailbox, messageId, deliveryIds } = await sentMail('ours-1@example.org', [
      'anna@customer.example',
      'Bela@Customer.example',
    ]);
    await receive(mailbox.id, [
      deliveryReport('ours-1@example.org', [
        ['anna@customer.example', 'failed', '5.1.1', '550 5.1.1 user unknown'],
        ['bela@customer.example', 'delayed', '4.2.2', '452 4.2.2 mailbox full'],
      ]),
    ]);
    const events = await eventsOf(mailbox.id);
    const bounces = events.filter(({ type }) => type === 'bounce.received');
    expect(bounces.map(({ data }) => BounceReceived.decode(data))).toMatchObject([
      {
        recipient: 'anna@customer.example',
        action: 'failed',
        status: '5.1.1',
        smtpCode: 550,
        hard: true,
        reason: 'userunknown',
        bouncedMessageId: messageId,
        deliveryId: deliveryIds[0],
      },
      {
        recipient: 'bela@customer.example',
        action: 'delayed',
        hard: false,
        bouncedMessageId: messageId,
        deliveryId: deliveryIds[1],
      },
    ]);
    const report = events.find(
      ({ type, data }) => type === 'mail.received' && MailReceived.decode(data).kind === 'dsn',
    )!;
    expect(bounces.map(({ partitionKey }) => partitionKey)).toEqual([
      report.partitionKey,
      report.partitionKey,
    ]);
    expect(bounces.map(({ sequence }) => sequence)).toEqual([
      report.sequence + 1,
      report.sequence + 2,
    ]);
    expect(bounces.every((bounce) => bounce.messageId === report.messageId)).toBe(true);
  });

  it('name no message that another organization has sent', async () => {
    const mailbox = await insertMailbox(mail.database, organizationId);
    await receive(mailbox.id, [
      deliveryReport('theirs@example.net', [['anna@customer.example', 'failed', '5.1.1', '550']]),
    ]);
    const bounce = (await eventsOf(mailbox.id)).find(({ type }) => type === 'bounce.received')!;
    const data = BounceReceived.decode(bounce.data);
    expect(data.bouncedMessageId).toBeUndefined();
    expect(data.deliveryId).toBeUndefined();
  });

  it('become a complaint about mail of another mailbox', async () => {
    const { messageId } = await sentMail('ours-2@example.org', ['anna@customer.example']);
    const complaints = await insertMailbox(mail.database, organizationId);
    await receive(complaints.id, [feedbackReport('ours-2@example.org')]);
    const event = (await eventsOf(complaints.id)).find(({ type }) => type === 'complaint.received');
    expect(ComplaintReceived.decode(event!.data)).toEqual({
      blindCopy: false,
      feedbackType: 'abuse',
      recipients: ['anna@customer.example'],
      complainedMessageId: messageId,
    });
  });

  it('say nothing when an archive brings them', async () => {
    const mailbox = await insertMailbox(mail.database, organizationId);
    await inbound.receive(
      { organizationId, mailboxId: mailbox.id },
      [deliveryReport('old@example.org', [['anna@customer.example', 'failed', '5.1.1', '550']])],
      { source: 'import' },
    );
    const kinds = (await eventsOf(mailbox.id)).map(({ type }) => type);
    expect(kinds).toContain('mail.received');
    expect(kinds).not.toContain('bounce.received');
  });

  function receive(mailboxId: string, raws: readonly Buffer[]): Promise<void> {
    return inbound.receive({ organizationId, mailboxId }, raws);
  }

  async function eventsOf(mailboxId: string): Promise<EventEnvelope[]> {
    const events = await outboxEvents(mail.database, organizationId);
    return events.filter((event) => event.mailboxId === mailboxId);
  }

  async function sentMail(messageIdHeader: string, recipients: readonly string[]) {
    const mailbox = await insertMailbox(mail.database, organizationId);
    const conversation = await newConversationIn(mail.database, organizationId);
    const message = newMessage(mailbox.id, {
      conversation,
      direction: 'outbound',
      status: 'sent',
      kind: null,
      unread: false,
      messageIdHeader,
    });
    const deliveryIds = recipients.map(() => uuidv7());
    await mail.database.inTenant(organizationId, async (tx) => {
      await recordMessages(tx, organizationId, [message]);
      await tx.query(
        `insert into submission (organization_id, id, conversation_id, mailbox_id, kind, subject, status, mail_from,
                                 message_id_header, raw_sha256, size_bytes, author_type, created_at, updated_at)
         values ($1, $2, $3, $4, 'compose', '', 'sent', $5, $6, '', 0, 'user', now(), now())`,
        [organizationId, message.id, conversation.id, mailbox.id, mailbox.address, messageIdHeader],
      );
      await tx.query(
        `insert into delivery (organization_id, id, submission_id, position, role, recipient, state, created_at, updated_at)
         select $1, id, $2, 0, 'to', recipient, 'sent', now(), now()
           from unnest($3::uuid[], $4::text[]) as d (id, recipient)`,
        [organizationId, message.id, deliveryIds, recipients],
      );
    });
    return { mailbox, messageId: message.id, deliveryIds };
  }
});

function deliveryReport(
  messageId: string,
  recipients: readonly (readonly [
    address: string,
    action: string,
    status: string,
    reply: string,
  ])[],
): Buffer {
  const perRecipient = recipients.map(([address, action, status, reply]) =>
    [
      `Final-Recipient: rfc822; ${address}`,
      `Action: ${action}`,
      `Status: ${status}`,
      `Diagnostic-Code: smtp; ${reply}`,
      '',
    ].join('\n'),
  );
  return rawMessage(
    {
      From: 'Mail Delivery System <mailer-daemon@customer.example>',
      Subject: 'Undelivered mail',
      'Message-ID': `<dsn-${messageId}>`,
      'MIME-Version': '1.0',
      'Content-Type': 'multipart/report; report-type=delivery-status; boundary=b',
    },
    [
      '--b',
      'Content-Type: text/plain',
      '',
      'Some of your mail could not be delivered.',
      '',
      '--b',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; mx.customer.example',
      '',
      ...perRecipient,
      '--b',
      'Content-Type: text/rfc822-headers',
      '',
      `Message-ID: <${messageId}>`,
      'Subject: Offer',
      '',
      '--b--',
      '',
    ].join('\n'),
  );
}

function feedbackReport(messageId: string): Buffer {
  return rawMessage(
    {
      From: 'Loop <loop@provider.example>',
      Subject: 'Complaint',
      'Message-ID': `<arf-${messageId}>`,
      'MIME-Version': '1.0',
      'Content-Type': 'multipart/report; report-type=feedback-report; boundary=b',
    },
    [
      '--b',
      'Content-Type: text/plain',
      '',
      'A person called this mail unwanted.',
      '',
      '--b',
      'Content-Type: message/feedback-report',
      '',
      'Feedback-Type: abuse',
      'User-Agent: Loop/1.0',
      'Version: 1',
      'Original-Rcpt-To: anna@customer.example',
      '',
      '--b',
      'Content-Type: message/rfc822',
      '',
      `Message-ID: <${messageId}>`,
      'Subject: Offer',
      '',
      'Hello.',
      '--b--',
      '',
    ].join('\n'),
  );
}
