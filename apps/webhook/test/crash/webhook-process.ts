import { Pool } from 'pg';
import { Registry } from 'prom-client';
import { PostgresLog } from '@dak/platform/log';
import { createLogger } from '@dak/platform/logging';
import { slowPeer } from '@dak/testing/waiting';
import { createWebhookService } from '../../src/service';
import { SECRET } from '../service-secret';

/** A whole webhook service as a process of its own, to be killed. */
async function main(): Promise<void> {
  const leaseMs = Number(process.env['LEASE_MS']);
  const pool = new Pool({ connectionString: process.env['LOG_URL']!, max: 4 });
  pool.on('error', () => undefined);
  const log = await PostgresLog.open({ pool, leaseMs });
  const service = createWebhookService({
    databaseUrl: process.env['WEBHOOK_URL']!,
    log,
    visibility: {
      findReaders: async ({ places }) => ({
        places: places.map(() => ({ userIds: [], senderIds: [] })),
      }),
    },
    logger: createLogger('webhook', 'fatal'),
    metrics: new Registry(),
    secret: SECRET,
    allow: '127.0.0.1',
    leaseMs,
  });
  process.once('SIGTERM', () => {
    void service
      .stop()
      .then(() => log.close())
      .then(() => process.exit(0));
  });
  for (;;) {
    try {
      await service.start();
      return;
    } catch {
      await slowPeer(100);
    }
  }
}

void main();
