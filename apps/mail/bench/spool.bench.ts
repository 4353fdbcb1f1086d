import { randomBytes, randomUUID } from 'node:crypto';
import { FolderBlobStore } from '@dak/platform/blobs';
import { Database } from '@dak/platform/postgres';
import { createSpool } from '../src/spool/spool';
import { spoolEntry } from '../src/spool/spool-entry';

/** Rows per second of durable appends by `producers` that each wait for their own. */
export async function measureSpool(
  databaseUrl: string,
  blobFolder: string,
  load: { producers: number; rows: number; bytes: number },
): Promise<{ rowsPerSecond: number; p50: number; p99: number }> {
  const database = new Database({ url: databaseUrl, applicationName: 'spool-bench' });
  const spool = createSpool({ database, blobs: await FolderBlobStore.open(blobFolder) });
  const target = { organizationId: randomUUID(), mailboxId: randomUUID() };
  const raw = Buffer.from(randomBytes(load.bytes).toString('base64').slice(0, load.bytes));
  const latencies: number[] = [];
  let left = load.rows;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: load.producers }, async () => {
      while (left > 0) {
        left -= 1;
        const began = performance.now();
        await spool.append([
          spoolEntry({
            ...target,
            source: 'smtp',
            recipient: 'inbox@sink.example',
            mailFrom: 'bench@source.example',
            clientAddress: '127.0.0.1',
            helo: 'source.example',
            protocol: 'ESMTP',
            raw,
            receivedAt: new Date(),
          }),
        ]);
        latencies.push(performance.now() - began);
      }
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  latencies.sort((a, b) => a - b);
  await database.asWorker((tx) =>
    tx.query('delete from inbound_spool where organization_id = $1', [target.organizationId]),
  );
  await database.close();
  return {
    rowsPerSecond: Math.round(latencies.length / seconds),
    p50: latencies[Math.floor(latencies.length * 0.5)] ?? 0,
    p99: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
  };
}

async function main([url, folder, producers = '10', rows = '20000', bytes = '4096']: string[]) {
  if (url === undefined || folder === undefined) {
    throw new Error('usage: spool.bench DATABASE_URL BLOB_FOLDER [PRODUCERS [ROWS [BYTES]]]');
  }
  const load = { producers: Number(producers), rows: Number(rows), bytes: Number(bytes) };
  const result = await measureSpool(url, folder, load);
  process.stdout.write(`${JSON.stringify({ ...load, ...result })}\n`);
}

if (require.main === module) void main(process.argv.slice(2));
