import { formatTraceHeader, type TraceFacts } from './trace-header';

const facts: TraceFacts = {
  helo: 'client.example',
  clientAddress: '192.0.2.7',
  hostName: 'mx.dak.example',
  protocol: 'ESMTPS',
  tls: { cipher: 'TLS_AES_256_GCM_SHA384', version: 'TLSv1.3' },
  queueId: '0199b0a0-0000-7000-8000-000000000001',
  recipients: [{ address: 'ann@y.example' }],
  receivedAt: new Date('2025-10-06T10:00:00.500Z'),
};

describe('the Received field', () => {
  it('names client, server, protocol, cipher, id, recipient and time', () => {
    expect(formatTraceHeader(facts)).toBe(
      'Received: from client.example ([192.0.2.7])\r\n' +
        '\tby mx.dak.example with ESMTPS id 0199b0a0-0000-7000-8000-000000000001\r\n' +
        '\t(TLSv1.3 TLS_AES_256_GCM_SHA384)\r\n' +
        '\tfor <ann@y.example>; Mon, 06 Oct 2025 10:00:00 +0000\r\n',
    );
  });

  it('does not tell recipients about each other', () => {
    const recipients = [{ address: 'ann@y.example' }, { address: 'bob@y.example' }];
    const field = formatTraceHeader({ ...facts, tls: null, recipients });
    expect(field).not.toContain('y.example');
    expect(field.split('\r\n')[1]).toMatch(/id \S+; Mon, 06 Oct 2025 10:00:00 \+0000$/);
  });

  it('writes an IPv6 address as a literal', () => {
    expect(formatTraceHeader({ ...facts, clientAddress: '2001:db8::1' })).toContain(
      '([IPv6:2001:db8::1])',
    );
  });

  it('keeps what the client calls itself in its place', () => {
    const field = formatTraceHeader({ ...facts, helo: 'a) by evil\r\nX-Y: (z;\u00e9' });
    expect(field).toMatch(/^Received: from a\?\?by\?evil\?\?X-Y:\?\?z\?\? \(\[192/);
    expect(formatTraceHeader({ ...facts, helo: '' })).toMatch(/^Received: from unknown /);
  });

  it('names an internationalized recipient only in an internationalized message', () => {
    const recipients = [{ address: 'j\u00f6rg@y.example' }];
    expect(formatTraceHeader({ ...facts, recipients })).not.toContain('for <');
    expect(formatTraceHeader({ ...facts, recipients, protocol: 'UTF8SMTPS' })).toContain(
      'for <j\u00f6rg@y.example>;',
    );
  });
});
