import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, type Principal } from '@dak/kernel';
import type { SubmissionReceipt } from '@dak/contracts/api';
import { ComposeRequest, Content, ReplyRequest, type Document } from '@dak/contracts/mail';
import { FolderBlobStore } from '@dak/platform/blobs';
import { eventually } from '@dak/testing/waiting';
import {
  createDeliveryWorker,
  type DeliveryWorker,
  type DeliveryWorkerOptions,
} from '../src/delivery/delivery-worker';
import { createCaptureTransport } from '../src/delivery/transports/capture-transport';
import { createRelayTransport } from '../src/delivery/transports/relay-transport';
import type { Transport } from '../src/delivery/transports/transport';
import { createAddressDirectory } from '../src/mailboxes/addresses/address-directory';
import { createReaders } from '../src/db/database-reader';
import { createOutboxHandlers } from '../src/sending/outbox/handlers';
import { createSubmissionHandlers } from '../src/sending/submissions/handlers';
import { createAcceptor, type Acceptor } from '../src/sending/submissions/acceptor';
import { openMailDatabase, type MailDatabase } from './mail-fixtures';

export interface Sending {
  mail: MailDatabase;
  blobs: FolderBlobStore;
  folder: string;
  handlers: ReturnType<typeof createSubmissionHandlers> & ReturnType<typeof createOutboxHandlers>;
  acceptor: Acceptor;
  errors: unknown[];
  /** A worker over the same database; started. `folder` separates processes. */
  worker(transport?: Transport, options?: WorkerSettings): Promise<DeliveryWorker>;
  close(): Promise<void>;
}

export interface WorkerSettings extends DeliveryWorkerOptions {
  process?: string;
}

/** Everything between a request to send and the next hop, on a real database and folder. */
export async function openSending(maxConnections = 6): Promise<Sending> {
  const mail = await openMailDatabase(maxConnections);
  const folder = await mkdtemp(join(tmpdir(), 'dak-sending-'));
  const blobs = await FolderBlobStore.open(join(folder, 'blobs'));
  const workers: DeliveryWorker[] = [];
  const errors: unknown[] = [];
  const onAccepted = () => workers.forEach((worker) => worker.wake());
  const { database } = mail;
  const acceptor = createAcceptor({
    database,
    blobs,
    takeSend: async () => undefined,
    keepRaw: () => undefined,
    onAccepted,
  });
  const deps = {
    database,
    readers: createReaders(database),
    blobs,
    clock: systemClock,
    cursorKey: Buffer.alloc(32, 7),
    acceptor,
    onAccepted,
  };
  const handlers = { ...createSubmissionHandlers(deps), ...createOutboxHandlers(deps) };
  return {
    mail,
    blobs,
    folder,
    handlers,
    acceptor,
    errors,
    async worker(transport = createCaptureTransport(), { process = 'a', ...options } = {}) {
      const worker = createDeliveryWorker({
        database,
        blobs,
        clock: systemClock,
        transport,
        directory: createAddressDirectory(database),
        journalFolder: join(folder, process),
        hostName: 'dak.test',
        onSpooled: () => undefined,
        onError: (error) => errors.push(error),
        options: { pollMs: 50, ...options },
      });
      workers.push(worker);
      await worker.start();
      return worker;
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.stop(2_000)));
      await mail.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export function relayTo(port: number, timeouts = { finalDot: 2_000 }): Transport {
  return createRelayTransport({
    endpoint: {
      protocol: 'smtp',
      host: '127.0.0.1',
      port,
      tls: 'none',
      localName: 'dak.test',
      timeouts,
    },
  });
}

type ContentFields = Parameters<typeof Content.fromPartial>[0];
type Fields<T> = Omit<T, 'content'> & { content?: ContentFields };

export function composeRequest(
  fields: Fields<Parameters<typeof ComposeRequest.fromPartial>[0]>,
): ComposeRequest {
  return ComposeRequest.fromPartial({
    to: ['meera@customer.example'],
    subject: 'Your order',
    ...fields,
    content: Content.fromPartial({ bodyText: 'It is on its way.', ...fields.content }),
  });
}

export function replyRequest(
  fields: Fields<Parameters<typeof ReplyRequest.fromPartial>[0]>,
): ReplyRequest {
  return ReplyRequest.fromPartial({
    ...fields,
    content: Content.fromPartial({ bodyText: 'We are looking into it.', ...fields.content }),
  });
}

export function receiptOf(document: Document): SubmissionReceipt {
  return JSON.parse(document.json.toString('utf8')) as SubmissionReceipt;
}

export interface StoredDelivery {
  recipient: string;
  state: string;
  attempts: number;
  smtp_code: number | null;
  diagnostic: string | null;
  next_attempt_at: string | null;
  phase: string | null;
}

export async function deliveriesOf(
  { mail }: Sending,
  caller: Principal,
  submissionId: string,
): Promise<StoredDelivery[]> {
  const [rows] = await mail.database.batchInTenant(caller.organizationId, [
    {
      name: 'test_deliveries',
      text: `select recipient, state, attempts, smtp_code, diagnostic, next_attempt_at, phase
               from delivery where organization_id = $1 and submission_id = $2 order by position`,
      values: [caller.organizationId, submissionId],
    },
  ]);
  return rows as unknown as StoredDelivery[];
}

/** Waits until `check` holds for the deliveries. */
export function untilDeliveries(
  sending: Sending,
  caller: Principal,
  submissionId: string,
  check: (deliveries: StoredDelivery[]) => boolean,
): Promise<StoredDelivery[]> {
  let deliveries: StoredDelivery[] = [];
  const clues = () => `other than ${JSON.stringify(deliveries)}; ${String(sending.errors[0])}`;
  return eventually(clues, async () => {
    deliveries = await deliveriesOf(sending, caller, submissionId);
    return check(deliveries) && deliveries;
  });
}
