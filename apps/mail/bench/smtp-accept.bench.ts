import { createGroupCommit } from '../src/inbound/group-commit';
import { createSmtpListener } from '../src/inbound/smtp-listener';
import type { AcceptOutcome, SmtpDelivery } from '../src/inbound/smtp-delivery';
import { measureSmtpAccept } from './measure-smtp-accept';

/** The listener alone: what it takes when making a message durable costs nothing. */
async function benchListener(): Promise<void> {
  const accepted: AcceptOutcome[] = [{ kind: 'accepted' }];
  let groups = 0;
  const commit = createGroupCommit<SmtpDelivery, AcceptOutcome[]>(async (items) => {
    groups += 1;
    return items.map(() => accepted);
  });
  const target = { organizationId: 'bench', mailboxId: 'bench' };
  const listener = await createSmtpListener({
    protocol: 'smtp',
    host: '127.0.0.1',
    port: 0,
    hostName: 'mx.sink.example',
    handlers: {
      resolveRecipient: async () => ({ kind: 'deliver', target }),
      accept: (delivery) => commit.submit(delivery),
    },
    log: { warn: () => undefined, error: () => undefined },
  });
  process.stdout.write(`${JSON.stringify({ port: listener.port })}\n`);
  process.on('SIGTERM', () => {
    process.stdout.write(`${JSON.stringify({ groups })}\n`);
    void listener.stop();
  });
}

/** `serve` runs the bare listener; `load <port> <sessions> <messages> <bytes>` drives a server. */
async function main([mode, ...rest]: string[]): Promise<void> {
  if (mode === 'serve') return benchListener();
  const [port = 2525, sessions = 10, messages = 10_000, bytes = 4096] = rest.map(Number);
  const recipient = process.env['BENCH_RECIPIENT'] ?? 'inbox@sink.example';
  const result = await measureSmtpAccept({ port, sessions, messages, bytes, recipient });
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

void main(process.argv.slice(2));
