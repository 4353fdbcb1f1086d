import { parseMessage } from '@dak/formats/rfc5322';

import { readFeedbackReport } from './feedback-report';

const read = (lines: string[]) => readFeedbackReport(parseMessage(Buffer.from(lines.join('\r\n'))));

const report = (fields: string[], returned: string[]) => [
  'From: loop@example.net',
  'Subject: complaint',
  'MIME-Version: 1.0',
  'Content-Type: multipart/report; report-type=feedback-report; boundary=b',
  '',
  '--b',
  'Content-Type: message/feedback-report',
  '',
  ...fields,
  '',
  '--b',
  ...returned,
  '',
  '--b--',
];

describe('readFeedbackReport', () => {
  it('reads the fields and the message complained about', () => {
    const found = read(
      report(
        [
          'Feedback-Type: Abuse',
          'User-Agent: Loop/1.0',
          'Version: 1',
          'Original-Mail-From: <desk@example.com>',
          'Original-Rcpt-To: <anna@example.org>',
          'Original-Rcpt-To: bela@example.org',
          'Source-IP: 192.0.2.1',
          'Incidents: 3',
        ],
        [
          'Content-Type: message/rfc822',
          '',
          'Message-ID: <ours@example.com>',
          'Subject: Offer',
          '',
          'x',
        ],
      ),
    );
    expect(found).toMatchObject({
      type: 'abuse',
      recipients: ['anna@example.org', 'bela@example.org'],
      userAgent: 'Loop/1.0',
      originalMailFrom: 'desk@example.com',
      sourceIp: '192.0.2.1',
      incidents: 3,
      returned: { messageId: 'ours@example.com', subject: 'Offer' },
    });
  });

  it('finds the recipient in the returned headers when the loop gives none', () => {
    const found = read(
      report(
        ['Feedback-Type: abuse', 'Version: 0.1'],
        [
          'Content-Type: text/rfc822-header',
          '',
          'X-Original-To: anna@example.org',
          'To: list@example.org',
        ],
      ),
    );
    expect(found?.recipients).toEqual(['anna@example.org']);
  });

  it('reads the form of Hotmail, a bare message with the recipient in its headers', () => {
    const found = read([
      'From: staff@hotmail.com',
      'Subject: complaint about message from 192.0.2.222',
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: message/rfc822',
      '',
      'X-HmXmrOriginalRecipient: anna@example.org',
      'From: desk@example.com',
      'Message-ID: <ours@example.com>',
      '',
      'x',
      '--b--',
    ]);
    expect(found).toMatchObject({
      type: 'abuse',
      recipients: ['anna@example.org'],
      sourceIp: '192.0.2.222',
      returned: { messageId: 'ours@example.com' },
    });
  });

  it('takes the unsubscribe mail of Apple Mail as an opt-out of its sender', () => {
    expect(read(['From: anna@example.org', 'X-Apple-Unsubscribe: true', '', 'x'])).toMatchObject({
      type: 'opt-out',
      recipients: ['anna@example.org'],
    });
  });

  it('is silent about other mail, also when a person forwards a message', () => {
    expect(read(['From: anna@example.org', 'Subject: Hi', '', 'x'])).toBeNull();
    expect(
      read(['From: anna@example.org', 'Content-Type: message/rfc822', '', 'Subject: Hi', '', 'x']),
    ).toBeNull();
  });
});
