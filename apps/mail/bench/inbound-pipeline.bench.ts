import { randomUUID } from 'node:crypto';
import { FolderBlobStore } from '@dak/platform/blobs';
import { Database } from '@dak/platform/postgres';
import { createInboundPipeline } from '../src/receiving/pipeline/inbound-pipeline';
import { ReadingPool } from '../src/receiving/reading/reading-pool';
import { createSpool } from '../src/spool/spool';
import { spoolEntry } from '../src/spool/spool-entry';

export interface PipelineLoad {
  messages: number;
  /** Octets of one message, about. */
  bytes: number;
  mailboxes: number;
  workers: number;
  batchSize: number;
  lanes: number;
}

/** Messages per second from spool to stored: parsed, threaded, blobs and rows durable. */
export async function measurePipeline(
  databaseUrl: string,
  blobFolder: string,
  workerFile: string,
  load: PipelineLoad,
): Promise<{ messagesPerSecond: number; processorMs: number; conversations: number }> {
  const database = new Database({ url: databaseUrl, applicationName: 'pipeline-bench' });
  const blobs = await FolderBlobStore.open(blobFolder);
  const pool = new ReadingPool({ workerFile, size: load.workers });
  const organizationId = randomUUID();
  const mailboxIds = Array.from({ length: load.mailboxes }, () => randomUUID());
  await database.inTenant(organizationId, (tx) =>
    tx.query(
      `insert into mailbox (organization_id, id, address, settings, created_at, updated_at)
       select $1, id, id || '@bench.example', '{}', now(), now() from unnest($2::uuid[]) id`,
      [organizationId, mailboxIds],
    ),
  );
  const spool = createSpool({ database, blobs });
  const entries = Array.from({ length: load.messages }, (_, index) => ({
    organizationId,
    mailboxId: mailboxIds[Math.floor(index / 4) % mailboxIds.length]!,
    raw: benchMessage(index, load.bytes),
  }));
  for (let start = 0; start < entries.length; start += 200) {
    await spool.append(
      entries.slice(start, start + 200).map((entry) =>
        spoolEntry({
          ...entry,
          source: 'smtp',
          recipient: 'bench@bench.example',
          receivedAt: new Date(),
        }),
      ),
    );
  }

  let stored = 0;
  let finish = () => undefined as void;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const pipeline = createInboundPipeline({
    database,
    blobs,
    read: (raw, request) => pool.read(raw, request),
    log: console,
    batchSize: load.batchSize,
    lanes: load.lanes,
    onResults: (entries) => {
      stored += entries.length;
      if (stored >= load.messages) finish();
    },
  });
  await pool.read(benchMessage(0, load.bytes));
  const processorBefore = process.cpuUsage();
  const start = performance.now();
  await pipeline.start();
  await finished;
  const seconds = (performance.now() - start) / 1000;
  const processor = process.cpuUsage(processorBefore);
  await pipeline.stop();
  await pool.close();
  const { rows } = await database.inTenant(organizationId, (tx) =>
    tx.query<{ count: number }>('select count(*) as count from conversation'),
  );
  await database.close();
  return {
    messagesPerSecond: Math.round(load.messages / seconds),
    // Of this process with its readers, per message; what the database uses comes on top.
    processorMs: (processor.user + processor.system) / 1000 / load.messages,
    conversations: rows[0]!.count,
  };
}

const WORDS =
  'please send the order again because parcel number was never delivered to our office in the north and nobody could tell us where it went after monday'.split(
    ' ',
  );

/** Mixed mail: threads of four, HTML beside text, a small attachment on one in ten. */
function benchMessage(index: number, bytes: number): Buffer {
  const thread = Math.floor(index / 4);
  const first = `${thread}-0.${process.pid}@source.example`;
  const isReply = index % 4 > 0;
  const lines: string[] = [];
  let size = 0;
  for (let word = index; size < bytes - 900; word += 1) {
    const line = Array.from({ length: 12 }, (_, i) => WORDS[(word * 7 + i * index) % WORDS.length]);
    lines.push(`${line.join(' ')}`);
    size += line.join(' ').length + 2;
  }
  const text = lines.join('\r\n');
  const head = [
    `From: Customer ${thread} <customer${thread}@source.example>`,
    'To: Support <bench@bench.example>',
    `Subject: ${isReply ? 'Re: ' : ''}Parcel ${thread} was never delivered`,
    `Date: ${new Date(Date.UTC(2026, 9, 1) + index * 1000).toUTCString()}`,
    `Message-ID: <${thread}-${index % 4}.${process.pid}@source.example>`,
    ...(isReply ? [`In-Reply-To: <${first}>`, `References: <${first}>`] : []),
    'MIME-Version: 1.0',
  ];
  if (index % 10 !== 0) {
    return Buffer.from(
      [...head, 'Content-Type: text/plain; charset=utf-8', '', text, ''].join('\r\n'),
    );
  }
  return Buffer.from(
    [
      ...head,
      'Content-Type: multipart/mixed; boundary="b"',
      '',
      '--b',
      'Content-Type: text/html; charset=utf-8',
      '',
      `<p>${text.slice(0, text.length / 2)}</p>`,
      '--b',
      `Content-Type: application/pdf; name="bill-${index}.pdf"`,
      'Content-Transfer-Encoding: base64',
      '',
      Buffer.from(text.slice(text.length / 2)).toString('base64'),
      '--b--',
      '',
    ].join('\r\n'),
  );
}

async function main([url, folder, workerFile, ...rest]: string[]): Promise<void> {
  if (url === undefined || folder === undefined || workerFile === undefined) {
    throw new Error(
      'usage: inbound-pipeline.bench DATABASE_URL BLOB_FOLDER WORKER_FILE [MESSAGES [BYTES [MAILBOXES [WORKERS [BATCH [LANES]]]]]]',
    );
  }
  const [messages = 4000, bytes = 4096, mailboxes = 10, workers = 1, batchSize = 100, lanes = 2] =
    rest.map(Number);
  const load = { messages, bytes, mailboxes, workers, batchSize, lanes };
  const result = await measurePipeline(url, folder, workerFile, load);
  process.stdout.write(`${JSON.stringify({ ...load, ...result })}\n`);
}

if (require.main === module) void main(process.argv.slice(2));
