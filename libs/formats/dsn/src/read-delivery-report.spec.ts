import { parseMessage } from '@dak/formats/rfc5322';

import { readDeliveryReport } from './read-delivery-report';

function read(lines: string[]) {
  const message = parseMessage(Buffer.from(lines.join('\r\n')));
  return readDeliveryReport(message, message.text);
}

const report = (text: string[], status: string[]) => [
  'From: MAILER-DAEMON@mx.example.net (Mail Delivery System)',
  'Subject: Undelivered Mail Returned to Sender',
  'MIME-Version: 1.0',
  'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
  '',
  '--b',
  'Content-Type: text/plain',
  '',
  ...text,
  '',
  '--b',
  'Content-Type: message/delivery-status',
  '',
  ...status,
  '',
  '--b',
  'Content-Type: text/rfc822-headers',
  '',
  'Message-ID: <ours@example.com>',
  'From: desk@example.com',
  'To: anna@example.org',
  'Subject: Your order',
  '',
  '--b--',
];

const qmail = [
  'Return-Path: <>',
  'From: MAILER-DAEMON@mx.example.net',
  'To: desk@example.com',
  'Subject: failure notice',
  '',
  'Hi. This is the qmail-send program at mx.example.net.',
  "I'm afraid I wasn't able to deliver your message to the following addresses.",
  '',
  '<anna@example.org>:',
  '192.0.2.7 does not like recipient.',
  'Remote host said: 552 5.2.2 mailbox full',
  '',
  '<bela@example.org>:',
  'Remote host said: 550 5.1.1 no such user here',
  '',
  '--- Below this line is a copy of the message.',
  '',
  'Message-ID: <ours@example.com>',
  'From: desk@example.com',
  'Subject: Your order',
  '',
  'virus spam quota exceeded',
];

describe('readDeliveryReport', () => {
  it('joins the fields of the report with the message it is about', () => {
    const found = read(
      report(
        ['Sorry.'],
        [
          'Reporting-MTA: dns; mx.example.net',
          'Original-Envelope-Id: e1',
          '',
          'Final-Recipient: rfc822; anna@example.org',
          'Action: failed',
          'Status: 5.0.0',
          'Diagnostic-Code: smtp; 550 5.1.1 <anna@example.org>... User unknown',
        ],
      ),
    );
    expect(found).toMatchObject({
      source: 'rfc3464',
      originalEnvelopeId: 'e1',
      reportingMta: 'mx.example.net',
      recipients: [
        {
          recipient: 'anna@example.org',
          action: 'failed',
          status: '5.1.1',
          smtpCode: 550,
          hard: true,
          reason: 'userunknown',
        },
      ],
      returned: { messageId: 'ours@example.com', subject: 'Your order', to: ['anna@example.org'] },
    });
  });

  it('takes the codes from the words where the report has no diagnostic', () => {
    const found = read(
      report(
        ['a@example.org: 550 5.1.1 no such user', 'b@example.org: 552 5.2.2 over quota'],
        [
          'Reporting-MTA: dns; mx.example.net',
          '',
          'Final-Recipient: rfc822; a@example.org',
          'Action: failed',
          'Status: 5.0.0',
          '',
          'Final-Recipient: rfc822; b@example.org',
          'Action: failed',
          'Status: 5.0.0',
        ],
      ),
    );
    expect(found?.recipients.map(({ status, reason, hard }) => [status, reason, hard])).toEqual([
      ['5.1.1', 'userunknown', true],
      ['5.2.2', 'mailboxfull', false],
    ]);
  });

  it('says that a report of success is no failure', () => {
    const found = read(
      report(
        ['Delivered.'],
        ['Final-Recipient: rfc822; a@example.org', 'Action: delivered', 'Status: 2.1.5'],
      ),
    );
    expect(found?.recipients[0]).toMatchObject({
      action: 'delivered',
      reason: 'delivered',
      hard: false,
    });
  });

  it('reads a bounce in words, each recipient with its own words and none of the returned message', () => {
    const found = read(qmail);
    expect(found?.source).toBe('text');
    expect(
      found?.recipients.map(({ recipient, status, smtpCode, reason }) => [
        recipient,
        status,
        smtpCode,
        reason,
      ]),
    ).toEqual([
      ['anna@example.org', '5.2.2', 552, 'mailboxfull'],
      ['bela@example.org', '5.1.1', 550, 'userunknown'],
    ]);
    expect(found?.returned?.messageId).toBe('ours@example.com');
  });

  it('finds the status fields of a report that lost its MIME structure', () => {
    const found = read([
      'From: Mail Delivery Subsystem <MAILER-DAEMON@mx.example.net>',
      'Subject: Returned mail: see transcript for details',
      '',
      '--x/mx.example.net',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; mx.example.net',
      '',
      'Final-Recipient: RFC822; anna@example.org',
      'Action: failed',
      'Status: 5.7.1',
      'Diagnostic-Code: SMTP; 550 5.7.1 Relaying denied',
      '',
      '--x/mx.example.net',
      'Content-Type: message/rfc822',
      '',
      'Subject: Your order',
    ]);
    expect(found?.recipients).toMatchObject([
      { recipient: 'anna@example.org', reason: 'norelaying' },
    ]);
  });

  it('is not fooled by a person who writes about a bounce or forwards one', () => {
    const quoting = [...qmail.slice(5)];
    expect(
      read(['From: Anna <anna@example.org>', 'Subject: Re: failure notice', '', ...quoting]),
    ).toBeNull();
    expect(
      read([
        'From: Anna <anna@example.org>',
        'Subject: Fwd: bounce',
        'MIME-Version: 1.0',
        'Content-Type: multipart/mixed; boundary=o',
        '',
        '--o',
        '',
        'See attachment.',
        '--o',
        'Content-Type: message/rfc822',
        '',
        ...report(['Sorry.'], ['Final-Recipient: rfc822; a@example.org', 'Action: failed']),
        '--o--',
      ]),
    ).toBeNull();
  });

  it('does not blame the recipient for what the sender or the network did', () => {
    const outcome = (diagnostic: string) =>
      read(
        report(
          [''],
          [
            'Final-Recipient: rfc822; a@example.org',
            'Action: failed',
            'Status: 5.7.1',
            `Diagnostic-Code: smtp; ${diagnostic}`,
          ],
        ),
      )?.recipients[0];
    for (const [diagnostic, reason] of [
      [
        '550 5.7.1 <userunknown@example.org>: Recipient address rejected: Relay access denied',
        'norelaying',
      ],
      ['550-5.7.26 This mail is unauthenticated: SPF did not pass', 'authfailure'],
      [
        '554 5.7.1 Service unavailable; client host [192.0.2.1] blocked using zen.spamhaus.org',
        'blocked',
      ],
      ['550 5.7.1 Our system detected that this message is likely spam', 'spamdetected'],
    ] as const) {
      expect({ diagnostic, ...outcome(diagnostic) }).toMatchObject({
        diagnostic,
        reason,
        hard: false,
      });
    }
  });

  it('reads a hostile report in time that grows with its length', () => {
    const body = 'Final-Recipient: rfc822; a@example.org\r\nAction: failed\r\n'.repeat(20_000);
    const started = performance.now();
    expect(read(report([body], [body]))?.recipients.length).toBeGreaterThan(1000);
    expect(performance.now() - started).toBeLessThan(5000);
  });
});
