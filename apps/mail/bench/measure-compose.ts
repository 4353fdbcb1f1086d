import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SCOPES, systemClock, type Principal } from '@dak/kernel';
import { ComposeRequest, Content } from '@dak/contracts/mail';
import { FolderBlobStore } from '@dak/platform/blobs';
import { Database } from '@dak/platform/postgres';
import { createReaders } from '../src/db/database-reader';
import { createDeliveryWorker } from '../src/delivery/delivery-worker';
import { createRelayTransport } from '../src/delivery/transports/relay-transport';
import { createAddressDirectory } from '../src/mailboxes/addresses/address-directory';
import { createSubmissionHandlers } from '../src/sending/submissions/handlers';
import { createAcceptor } from '../src/sending/submissions/acceptor';
import { ownDomain } from '../test/mail-fixtures';

export interface ComposeLoad {
  /** Of a migrated mail database under its runtime role. */
  readonly databaseUrl: string;
  /** A server that takes everything. */
  readonly relay: { readonly host: string; readonly port: number };
  /** Callers that each wait for their 201. */
  readonly callers: number;
  readonly messages: number;
  /** Of the plain body. */
  readonly bodyBytes: number;
  /** How many messages the relay has taken so far. */
  readonly countAccepted: () => number;
}

export interface ComposeResult {
  /** From the first request until the relay has taken the last message. */
  readonly messagesPerSecond: number;
  /** From the first request until the last 201. */
  readonly acceptedPerSecond: number;
  /** Milliseconds until the 201. */
  readonly p50: number;
  readonly p99: number;
}

/** Composes through the service's handlers and delivers to a relay, all in this process. */
export async function measureCompose(load: ComposeLoad): Promise<ComposeResult> {
  const folder = await mkdtemp(join(tmpdir(), 'dak-compose-bench-'));
  const database = new Database({ url: load.databaseUrl, applicationName: 'compose-bench' });
  const blobs = await FolderBlobStore.open(join(folder, 'blobs'));
  const worker = createDeliveryWorker({
    database,
    blobs,
    clock: systemClock,
    transport: createRelayTransport({
      endpoint: { protocol: 'smtp', tls: 'none', localName: 'bench.example', ...load.relay },
    }),
    directory: createAddressDirectory(database),
    journalFolder: join(folder, 'journal'),
    hostName: 'bench.example',
    onSpooled: () => undefined,
    onError: (error) => process.stderr.write(`${String(error)}\n`),
  });
  const handlers = createSubmissionHandlers({
    database,
    blobs,
    clock: systemClock,
    readers: createReaders(database),
    acceptor: createAcceptor({
      database,
      blobs,
      takeSend: async () => undefined,
      keepRaw: (...kept) => worker.keepRaw(...kept),
      onAccepted: () => worker.wake(),
    }),
  });
  const principal = await insertSender(database);
  await worker.start();
  const before = load.countAccepted();
  const latencies: number[] = [];
  let left = load.messages;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: load.callers }, async () => {
      while (left > 0) {
        left -= 1;
        const began = performance.now();
        await handlers.compose(requestOf(principal.mailboxId, left, load.bodyBytes), {
          principal,
          requestId: 'bench',
          deadline: Date.now() + 60_000,
          signal: new AbortController().signal,
          idempotency: null,
          traceparent: null,
        });
        latencies.push(performance.now() - began);
      }
    }),
  );
  const acceptedMs = performance.now() - start;
  while (load.countAccepted() - before < load.messages) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const sentMs = performance.now() - start;
  await worker.stop();
  await database.close();
  await rm(folder, { recursive: true, force: true });
  latencies.sort((a, b) => a - b);
  return {
    messagesPerSecond: Math.round((load.messages / sentMs) * 1000),
    acceptedPerSecond: Math.round((load.messages / acceptedMs) * 1000),
    p50: latencies[Math.floor(latencies.length * 0.5)] ?? 0,
    p99: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
  };
}

async function insertSender(database: Database): Promise<Principal & { mailboxId: string }> {
  const organizationId = randomUUID();
  const mailboxId = randomUUID();
  await ownDomain(database, organizationId, 'source.example');
  await database.inTenant(organizationId, (tx) =>
    tx.query(
      `insert into mailbox (organization_id, id, address, settings, created_at, updated_at)
       values ($1, $2, $3, '{}', now(), now())`,
      [organizationId, mailboxId, `bench-${mailboxId}@source.example`],
    ),
  );
  return {
    mailboxId,
    organizationId,
    type: 'api_key',
    userId: randomUUID(),
    userName: 'bench',
    role: 'admin',
    scopes: SCOPES,
    credentialId: randomUUID(),
    departmentIds: [],
  };
}

const SENTENCE = 'We have received your order and will send it on its way tomorrow morning. ';

function requestOf(mailboxId: string, index: number, bodyBytes: number): ComposeRequest {
  return ComposeRequest.fromPartial({
    mailboxId,
    to: [`customer${index}@sink.example`],
    subject: `Your order ${index}`,
    content: Content.fromPartial({
      bodyText: SENTENCE.repeat(Math.ceil(bodyBytes / SENTENCE.length)).slice(0, bodyBytes),
    }),
  });
}
