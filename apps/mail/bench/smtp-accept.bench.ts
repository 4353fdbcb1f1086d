import type { AcceptOutcome, SmtpDelivery } from '../src/receiving/smtp/smtp-delivery';
import { createSmtpListener } from '../src/receiving/smtp/smtp-listener';
import { readFileSync } from 'node:fs';
import { createGroupCommit } from '@dak/platform/group-commit';
import {
  dataOf,
  generatedMessages,
  measureSmtpAccept,
  type SmtpMessage,
} from './measure-smtp-accept';

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
    limits: { sessionsPerClient: 1_000, sessionsPerNetwork: 1_000 },
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

/** Every file once per recipient, so that no mailbox gets a message twice. */
function replayed(recipients: readonly string[], files: readonly string[]): SmtpMessage[] {
  const contents = files.map((file) => dataOf(readFileSync(file)));
  return recipients.flatMap((recipient) => contents.map((content) => ({ recipient, content })));
}

/**
 * `serve` runs the bare listener; `load PORT SESSIONS MESSAGES BYTES [RECIPIENT]` drives a server with
 * generated messages, `replay PORT SESSIONS RECIPIENT,… FILE…` with every file once per recipient.
 */
async function main([mode, ...rest]: string[]): Promise<void> {
  if (mode === 'serve') return benchListener();
  const port = Number(rest[0] ?? 2525);
  const sessions = Number(rest[1] ?? 10);
  if (mode === 'replay') {
    const messages = replayed((rest[2] ?? '').split(','), rest.slice(3));
    const message = (index: number) => messages[index]!;
    print(await measureSmtpAccept({ port, sessions, messages: messages.length, message }));
    return;
  }
  const messages = Number(rest[2] ?? 10_000);
  const message = generatedMessages(Number(rest[3] ?? 4096), rest[4] ?? 'inbox@sink.example');
  print(await measureSmtpAccept({ port, sessions, messages, message }));
}

function print(result: unknown): void {
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

void main(process.argv.slice(2));
