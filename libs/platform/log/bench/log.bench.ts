import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRestartablePostgres } from '@dak/testing/crash';
import { kafkaSource, startNativeKafka } from '@dak/testing/kafka';
import { measureLog } from './measure-log';

/**
 * `log.bench [ADMIN_URL [EVENTS [ROUNDS [BROKERS]]]]`: the outbox's cost per transaction, relay,
 * catch-up and lag of each driver, as JSON. With ADMIN_URL absent or empty it starts a durable PostgreSQL, and Kafka
 * where Java and Maven are.
 */
async function main([
  adminUrl = '',
  events = '40000',
  rounds = '3',
  brokers,
]: string[]): Promise<void> {
  const load = { events: Number(events), rounds: Number(rounds) };
  if (adminUrl !== '') {
    print(await measureLog({ ...load, adminUrl, brokers: brokers ?? null }));
    return;
  }
  // A broker that only starts fast would be measured too low.
  process.env['DAK_TEST_KAFKA_FULL_JIT'] = '1';
  const folder = mkdtempSync(join(tmpdir(), 'dak-log-bench-'));
  const postgres = await startRestartablePostgres();
  const kafka = kafkaSource() === 'native' ? await startNativeKafka(folder) : null;
  try {
    print(
      await measureLog({
        ...load,
        adminUrl: postgres.adminUrl,
        brokers: kafka?.brokers ?? null,
      }),
    );
  } finally {
    await Promise.all([postgres.stop(), kafka?.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Figures with one decimal; the outbox may add at most 15 %, a catch-up has to reach 10 000 events a second. */
function print(result: object): void {
  const rounded = (_: string, value: unknown): unknown =>
    typeof value === 'number' ? Math.round(value * 10) / 10 : value;
  process.stdout.write(`${JSON.stringify(result, rounded, 2)}\n`);
}

void main(process.argv.slice(2)).then(() => process.exit(0));
