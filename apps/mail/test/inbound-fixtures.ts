import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderBlobStore } from '@dak/platform/blobs';
import type { Database } from '@dak/platform/postgres';
import {
  createInboundPipeline,
  type InboundPipelineOptions,
} from '../src/receiving/pipeline/inbound-pipeline';
import { readMessage } from '../src/receiving/reading/read-message';
import { createSpool } from '../src/spool/spool';
import { spoolEntry, type SpoolEntry } from '../src/spool/spool-entry';

/** Header lines and text of a message; Message-ID and others only when given. */
export function rawMessage(headers: Record<string, string>, body = 'Hello.\n'): Buffer {
  const fields = {
    From: 'Meera <meera@customer.example>',
    To: 'support@example.org',
    Date: 'Mon, 02 Nov 2026 10:00:00 +0000',
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body.replaceAll('\n', '\r\n')}`);
}

export interface InboundParts {
  blobs: FolderBlobStore;
  spool: ReturnType<typeof createSpool>;
  pipeline: ReturnType<typeof createInboundPipeline>;
  /** Puts messages into the spool as if they had come over SMTP, and works until they are stored. */
  receive(
    mailbox: { organizationId: string; mailboxId: string },
    raws: readonly Buffer[],
    overrides?: Partial<SpoolEntry>,
  ): Promise<void>;
  close(): Promise<void>;
}

export async function openInbound(
  database: Database,
  overrides: Partial<InboundPipelineOptions> = {},
): Promise<InboundParts> {
  const folder = await mkdtemp(join(tmpdir(), 'dak-inbound-'));
  const blobs = await FolderBlobStore.open(folder);
  const spool = createSpool({ database, blobs });
  const pipeline = createInboundPipeline({
    database,
    blobs,
    read: async (raw) => readMessage(raw),
    log: { warn: () => undefined, error: () => undefined },
    ...overrides,
  });
  return {
    blobs,
    spool,
    pipeline,
    async receive(mailbox, raws, entry = {}) {
      await spool.append(
        raws.map((raw) =>
          spoolEntry({
            ...mailbox,
            source: 'smtp',
            recipient: 'support@example.org',
            receivedAt: new Date(),
            ...entry,
            raw,
          }),
        ),
      );
      await pipeline.drain();
    },
    async close() {
      await pipeline.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface StoredRow {
  id: string;
  conversation_id: string;
  subject: string;
  message_id_header: string | null;
  raw_sha256: string;
  body_text: string | null;
  labels: string[];
  unread: boolean;
  sort_at: string;
}

export async function storedMessages(
  database: Database,
  organizationId: string,
  mailboxId: string,
): Promise<StoredRow[]> {
  const { rows } = await database.inTenant(organizationId, (tx) =>
    tx.query<StoredRow>(
      `select id, conversation_id, subject, message_id_header, raw_sha256, body_text, labels, unread, sort_at
         from message where organization_id = $1 and mailbox_id = $2 order by sort_at, id`,
      [organizationId, mailboxId],
    ),
  );
  return rows;
}

/** Message-IDs by conversation, sorted: what threading has found. */
export async function storedThreads(
  database: Database,
  organizationId: string,
  mailboxId: string,
): Promise<string[][]> {
  const rows = await storedMessages(database, organizationId, mailboxId);
  return [...Map.groupBy(rows, (row) => row.conversation_id).values()]
    .map((group) => group.map((row) => row.message_id_header ?? row.raw_sha256).sort())
    .sort((a, b) => (a[0]! < b[0]! ? -1 : 1));
}
