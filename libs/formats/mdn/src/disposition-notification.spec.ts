import { parseMessage } from '@dak/formats/rfc5322';

import { readDispositionNotification } from './disposition-notification';

const read = (fields: string[]) =>
  readDispositionNotification(
    parseMessage(
      Buffer.from(
        [
          'From: anna@example.org',
          'MIME-Version: 1.0',
          'Content-Type: multipart/report; report-type=disposition-notification; boundary=b',
          '',
          '--b',
          '',
          'Read.',
          '--b',
          'Content-Type: message/disposition-notification',
          '',
          ...fields,
          '',
          '--b--',
        ].join('\r\n'),
      ),
    ),
  );

describe('readDispositionNotification', () => {
  it('reads the fields of a read receipt', () => {
    expect(
      read([
        'Reporting-UA: mail.example.org; Reader 1',
        'Final-Recipient: rfc822;anna@example.org',
        'Original-Message-ID: <ours@example.com>',
        'Disposition: manual-action/MDN-sent-manually; displayed',
      ]),
    ).toMatchObject({
      finalRecipient: 'anna@example.org',
      originalMessageId: 'ours@example.com',
      type: 'displayed',
      modifiers: [],
      automatic: false,
    });
  });

  it('tells an automatic one with its modifiers', () => {
    expect(
      read(['Disposition: Automatic-Action/MDN-sent-automatically; processed/error, expired']),
    ).toMatchObject({ type: 'processed', modifiers: ['error', 'expired'], automatic: true });
  });

  it('is null for a message without one', () => {
    expect(
      readDispositionNotification(parseMessage(Buffer.from('Subject: Hi\r\n\r\nx'))),
    ).toBeNull();
  });
});
