import { flowOf } from './flow';
import { clientOf } from './flow-client';

const entry = {
  source: 'smtp' as const,
  clientAddress: '192.0.2.1',
  mailFrom: 'ada@elsewhere.example',
  mailboxId: 'm1',
  importId: null,
};

describe('the flow of a message', () => {
  it('differs by client, sender and mailbox', () => {
    const flows = [
      flowOf(entry),
      flowOf({ ...entry, clientAddress: '192.0.2.2' }),
      flowOf({ ...entry, mailFrom: 'bob@elsewhere.example' }),
      flowOf({ ...entry, mailboxId: 'm2' }),
    ];
    expect(new Set(flows).size).toBe(4);
    expect(flowOf({ ...entry, mailFrom: 'ADA@elsewhere.example' })).toBe(flows[0]);
    expect(flows.map(clientOf)).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.1', '192.0.2.1']);
  });

  it('knows the client by the domain of the sender where the address is our own', () => {
    const clientOfSource = (source: 'lmtp' | 'local', mailFrom = entry.mailFrom) =>
      clientOf(flowOf({ ...entry, source, mailFrom }));
    expect(clientOfSource('lmtp')).toBe('lmtp:elsewhere.example');
    expect(clientOfSource('local', 'x@a|b.example')).toBe('local:ab.example');
    expect(clientOfSource('lmtp', '')).toBe('lmtp:');
    expect(clientOf(flowOf({ ...entry, source: 'import', importId: 'i1' }))).toBe('import:i1');
  });
});
