import { createEmptyDatabase } from './bench-database';
import {
  eventOf,
  measureLatency,
  measureNoisyNeighbor,
  measureThroughput,
} from './measure-webhooks';
import { measureGraphileWorker, measurePgBoss } from './peers';
import { startReceiver } from './start-receiver';
import { eventBody, publicEvent } from '@dak/contracts/events';

/**
 * `webhooks.bench ADMIN_URL [COUNT [ROUNDS]]`: deliveries per second, beside the same job on
 * graphile-worker and pg-boss in turns, and latencies; medians as JSON. The cluster should have fsync on.
 */
async function main([adminUrl, count = '10000', rounds = '3']: string[]): Promise<void> {
  if (adminUrl === undefined) throw new Error('usage: webhooks.bench ADMIN_URL [COUNT [ROUNDS]]');
  const receiver = await startReceiver();
  const body = eventBody(publicEvent(eventOf('0195f0a2-7a7e-7c11-8a53-0f4e4d1f2b11'))!).toString();
  const n = Number(count);
  const rates: Record<string, number[]> = {
    ...{ events: [], deliveries: [], graphile: [], bossOne: [], bossBatch: [] },
  };
  for (let round = 0; round < Number(rounds); round += 1) {
    const ours = await measureThroughput(adminUrl, receiver, n);
    rates['events']!.push(ours.eventsPerSecond);
    rates['deliveries']!.push(ours.deliveriesPerSecond);
    const peer = async (
      measure: (url: Parameters<typeof measureGraphileWorker>[0]) => Promise<number>,
    ) => {
      const database = await createEmptyDatabase(adminUrl);
      const rate = await measure(database);
      await database.drop();
      return rate;
    };
    rates['graphile']!.push(await peer((db) => measureGraphileWorker(db, receiver.url, n, body)));
    rates['bossOne']!.push(await peer((db) => measurePgBoss(db, receiver.url, n / 5, body, 1)));
    rates['bossBatch']!.push(await peer((db) => measurePgBoss(db, receiver.url, n, body, 100)));
    process.stderr.write(`${JSON.stringify(rates)}\n`);
  }
  const latency = await measureLatency(adminUrl, receiver, { perSecond: 500, seconds: 8 });
  const neighbor = await measureNoisyNeighbor(adminUrl, receiver, {
    endpoints: 50,
    perSecond: 4,
    seconds: 15,
  });
  const medians = Object.fromEntries(
    Object.entries(rates).map(([name, values]) => [name, Math.round(median(values))]),
  );
  process.stdout.write(`${JSON.stringify({ count: n, ...medians, latency, neighbor }, null, 2)}\n`);
  await receiver.stop();
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

void main(process.argv.slice(2)).then(() => process.exit(0));
