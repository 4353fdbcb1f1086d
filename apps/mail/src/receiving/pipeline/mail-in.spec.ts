import { Registry } from 'prom-client';
import { spoolEntry } from '../../spool/spool-entry';
import { createMailInReport, type MailIn } from './mail-in';

const ARRIVED = Date.UTC(2026, 10, 22, 9);

function mail(outcome: MailIn['outcome'], source: 'smtp' | 'import'): MailIn {
  return {
    entry: spoolEntry({
      organizationId: '01a20281-0000-7000-8000-000000000001',
      mailboxId: '01a20281-0000-7000-8000-000000000002',
      source,
      queueId: '01a20281-0000-7000-8000-000000000003',
      mailFrom: 'ada@elsewhere.example',
      recipient: 'desk@works.example',
      clientAddress: '192.0.2.7',
      helo: 'mx.elsewhere.example',
      receivedAt: new Date(ARRIVED),
      raw: Buffer.from('From: Ada <ada@elsewhere.example>\r\nSubject: Quite private\r\n\r\nhello'),
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    }),
    outcome,
    messageId: outcome === 'stored' ? '01a20281-0000-7000-8000-000000000004' : null,
  };
}

it('counts every outcome and writes a line for each mail but those of imports, without whose it is', async () => {
  const registry = new Registry();
  const lines: [Record<string, unknown>, string][] = [];
  const waits: number[] = [];
  const report = createMailInReport({
    registry,
    log: { info: (...line) => lines.push(line) },
    clock: () => ARRIVED + 250,
    onStored: (seconds) => waits.push(seconds),
  });
  report([mail('stored', 'smtp'), mail('duplicate', 'smtp'), mail('deferred', 'smtp')]);
  report([mail('stored', 'import')]);

  expect(lines.map(([{ outcome }, message]) => [message, outcome])).toEqual([
    ['mail in', 'stored'],
    ['mail in', 'duplicate'],
    ['mail in', 'deferred'],
  ]);
  expect(lines[0]![0]).toEqual({
    queue_id: '01a20281-0000-7000-8000-000000000003',
    outcome: 'stored',
    source: 'smtp',
    mailbox_id: '01a20281-0000-7000-8000-000000000002',
    message_id: '01a20281-0000-7000-8000-000000000004',
    size_bytes: 66,
    waited_ms: 250,
    trace_id: '0af7651916cd43dd8448eb211c80319c',
  });
  expect(JSON.stringify(lines)).not.toMatch(/example|192|private|Ada/);
  expect(waits).toEqual([0.25, 0.25]);
  const text = await registry.metrics();
  for (const [outcome, source] of [
    ['stored', 'smtp'],
    ['duplicate', 'smtp'],
    ['deferred', 'smtp'],
    ['stored', 'import'],
  ]) {
    expect(text).toContain(
      `dak_mail_pipeline_outcomes_total{outcome="${outcome}",source="${source}"} 1`,
    );
  }
});
