import { parseDeliveryStatus } from './parse-delivery-status';

const groups = (lines: string[], lineEnd = '\r\n') => parseDeliveryStatus(lines.join(lineEnd));

const TWO_RECIPIENTS = [
  'Original-Envelope-Id: envelope-7',
  'Reporting-MTA: dns; mx.example.net',
  'Arrival-Date: Mon, 1 Jan 2024 10:00:00 +0000',
  '',
  'Original-Recipient: rfc822;anna@example.org',
  'Final-Recipient: rfc822; a@example.org',
  'Action: failed',
  'Status: 5.1.1 (no such user)',
  'Remote-MTA: dns; in.example.org',
  'Diagnostic-Code: smtp; 550 5.1.1 <a@example.org>:',
  '    User unknown',
  '',
  'Final-Recipient: rfc822; b@example.org',
  'Action: delayed',
  'Status: 4.2.2',
  'Will-Retry-Until: Tue, 2 Jan 2024 10:00:00 +0000',
];

describe('parseDeliveryStatus', () => {
  it('keeps the groups of the recipients apart', () => {
    const status = groups(TWO_RECIPIENTS);
    expect(status).toMatchObject({
      originalEnvelopeId: 'envelope-7',
      reportingMta: 'mx.example.net',
      recipients: [
        {
          originalRecipient: 'anna@example.org',
          finalRecipient: 'a@example.org',
          action: 'failed',
          status: '5.1.1',
          remoteMta: 'in.example.org',
          diagnosticType: 'smtp',
          diagnosticCode: '550 5.1.1 <a@example.org>: User unknown',
        },
        {
          finalRecipient: 'b@example.org',
          action: 'delayed',
          status: '4.2.2',
          diagnosticCode: null,
        },
      ],
    });
  });

  it.each(['\n', '\r'])('reads line ends %j as CRLF', (lineEnd) => {
    expect(groups(TWO_RECIPIENTS, lineEnd)).toEqual(groups(TWO_RECIPIENTS));
  });

  it('does not need the blank line between two recipients', () => {
    const status = groups(TWO_RECIPIENTS.filter((line) => line !== ''));
    expect(status).toEqual(groups(TWO_RECIPIENTS));
  });

  it('does not take a blank line inside a group for the end of it', () => {
    const status = groups([
      'Reporting-MTA: dns; mx.example.net',
      '',
      'Final-Recipient: rfc822; a@example.org',
      '',
      'Action: failed',
      '',
      'Status: 5.2.2',
      'Final-Recipient: rfc822; b@example.org',
      'Action: failed',
      'Status: 5.1.1',
    ]);
    expect(status.recipients.map(({ finalRecipient, status }) => [finalRecipient, status])).toEqual(
      [
        ['a@example.org', '5.2.2'],
        ['b@example.org', '5.1.1'],
      ],
    );
  });

  it('starts a recipient at an Original-Recipient that follows a complete group', () => {
    const status = groups([
      'Final-Recipient: rfc822; a@example.org',
      'Action: failed',
      'Status: 5.2.2',
      'Original-Recipient: rfc822; list@example.org',
      'Final-Recipient: rfc822; b@example.org',
      'Action: failed',
    ]);
    expect(status.recipients.map((recipient) => recipient.originalRecipient)).toEqual([
      null,
      'list@example.org',
    ]);
  });

  it('undoes the escapes of internationalized addresses', () => {
    const status = groups(['Final-Recipient: utf-8; \\x{5186}@example.jp', 'Action: failed']);
    expect(status.recipients[0]?.finalRecipient).toBe('円@example.jp');
  });

  it.each([
    ['Failed', 'failed'],
    ['delivery-error', 'failed'],
    ['Delayed (will retry)', 'delayed'],
    ['deliverable', 'delivered'],
    ['relayed', 'relayed'],
    ['', 'unknown'],
  ])('reads the action %j as %s', (written, action) => {
    const status = groups(['Final-Recipient: rfc822; a@example.org', `Action: ${written}`]);
    expect(status.recipients[0]?.action).toBe(action);
  });

  it('has no recipient where the body speaks of none', () => {
    expect(groups(['Reporting-MTA: dns; mx.example.net', 'X-Queue: 1']).recipients).toEqual([]);
  });
});
