import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Registry } from 'prom-client';
import { EventEnvelope, MailReceived } from '@dak/contracts/events';
import { WebhookServiceService } from '@dak/contracts/webhook';
import { SCOPES, uuidv7, type Principal } from '@dak/kernel';
import { createClient, InProcessChannel } from '@dak/platform/grpc';
import {
  OutboxRelay,
  PostgresLog,
  appendToOutbox,
  toLogMessage,
  type Log,
} from '@dak/platform/log';
import { createLogger } from '@dak/platform/logging';
import { Database } from '@dak/platform/postgres';
import { createWebhookService, type WebhookService } from '../src/service';
import { createBenchDatabase, type BenchDatabase } from './bench-database';
import type { Receiver } from './start-receiver';

export interface Stand {
  service: WebhookService;
  log: Log;
  database: BenchDatabase;
  sql: pg.Pool;
  principal: Principal;
  endpointIds: string[];
  close(): Promise<void>;
}

const logger = createLogger('bench', 'error');

/** A webhook service that is built and not started, with endpoints of one administrator. */
export async function openStand(adminUrl: string, urls: readonly string[]): Promise<Stand> {
  const [database, logDatabase] = [
    await createBenchDatabase(adminUrl, 'webhook'),
    await createBenchDatabase(adminUrl, 'log'),
  ];
  const pool = new pg.Pool({ connectionString: logDatabase.url, max: 4 });
  pool.on('error', () => undefined);
  const log = await PostgresLog.open({ pool });
  const service = createWebhookService({
    databaseUrl: database.url,
    log,
    visibility: {
      findReaders: async ({ places }) => ({
        places: places.map(() => ({ userIds: [], senderIds: [] })),
      }),
    },
    logger,
    metrics: new Registry(),
    secret: 'a secret of thirty-two characters',
    allow: '127.0.0.1',
  });
  const sql = new pg.Pool({ connectionString: database.adminUrl, max: 2 });
  sql.on('error', () => undefined);
  const principal: Principal = {
    type: 'api_key',
    organizationId: uuidv7(),
    userId: uuidv7(),
    userName: 'bench',
    role: 'admin',
    scopes: SCOPES,
    credentialId: uuidv7(),
    departmentIds: [],
  };
  const api = createClient(WebhookServiceService, new InProcessChannel(service.registry));
  const endpointIds: string[] = [];
  for (const url of urls) {
    const { id } = await api.createEndpoint(
      {
        ...{ url, description: '', eventTypes: [], mailboxIds: [], ordering: 'none', headers: {} },
        ...{ enabled: true, ownSecret: false },
      },
      { principal, requestId: 'bench', deadline: Date.now() + 10_000 },
    );
    endpointIds.push(id);
  }
  return {
    ...{ service, log, database, sql, principal, endpointIds },
    async close() {
      await service.stop();
      await log.close();
      await pool.end();
      await sql.end();
      await database.drop();
      await logDatabase.drop();
    },
  };
}

export function eventOf(organizationId: string): EventEnvelope {
  const conversationId = uuidv7();
  const data = MailReceived.fromPartial({
    subject: 'Your order has been sent',
    from: { email: 'ada@customer.example', name: 'Ada Lovelace' },
    to: [{ email: 'support@company.example', name: 'Support' }],
    messageIdHeader: `${conversationId}@customer.example`,
    kind: 'human',
    sizeBytes: 4_096,
    receivedAt: new Date(),
    preview: 'We have received your order and will send it tomorrow morning. '.repeat(2),
    conversationStatus: 'open',
  });
  return EventEnvelope.fromPartial({
    id: `evt_${uuidv7()}`,
    type: 'mail.received',
    source: 'bench',
    organizationId,
    mailboxId: uuidv7(),
    conversationId,
    messageId: uuidv7(),
    partitionKey: `${organizationId}:${conversationId}`,
    sequence: 1,
    occurredAt: new Date(),
    actor: { type: 'external', id: '', name: '' },
    data: Buffer.from(MailReceived.encode(data).finish()),
  });
}

async function allRecorded(sql: pg.Pool, count: number): Promise<void> {
  for (;;) {
    const { rows } = await sql.query<{ n: number }>(`select count(*)::int as n from attempt`);
    if (rows[0]!.n >= count) return;
    await delay(20);
  }
}

async function publishAll(log: Log, organizationId: string, count: number): Promise<void> {
  for (let next = 0; next < count; next += 500) {
    const events = Array.from({ length: Math.min(500, count - next) }, () =>
      eventOf(organizationId),
    );
    await log.publish(events.map(toLogMessage));
  }
}

export interface Throughput {
  /** From the log to recorded attempts: fan-out, POST, attempt row. */
  eventsPerSecond: number;
  /** Of deliveries that wait in the table: POST, attempt row. */
  deliveriesPerSecond: number;
}

/** All in this process but PostgreSQL and the receiver. One endpoint, `count` events. */
export async function measureThroughput(
  adminUrl: string,
  receiver: Receiver,
  count: number,
): Promise<Throughput> {
  const stand = await openStand(adminUrl, [receiver.url]);
  const { sql, endpointIds, principal, service, log } = stand;
  await publishAll(log, principal.organizationId, count);
  let start = performance.now();
  await service.start();
  await allRecorded(sql, count);
  const eventsPerSecond = count / ((performance.now() - start) / 1000);
  // The same once more, as if nothing had been sent: a table that has seen use, not a fresh one.
  await sql.query(`update endpoint set enabled = false, version = version + 1`);
  await delay(4_000);
  await sql.query(`truncate attempt`);
  await sql.query(
    `update delivery set state = 'pending', attempts = 0, next_at = now(), first_attempt_at = null, finished_at = null
      where endpoint_id = $1`,
    [endpointIds[0]],
  );
  await sql.query('vacuum analyze');
  await sql.query(`update endpoint set enabled = true, version = version + 1`);
  await firstRecorded(sql);
  start = performance.now();
  const before = await recorded(sql);
  await allRecorded(sql, count);
  const deliveriesPerSecond = (count - before) / ((performance.now() - start) / 1000);
  await stand.close();
  return { eventsPerSecond, deliveriesPerSecond };
}

async function recorded(sql: pg.Pool): Promise<number> {
  const { rows } = await sql.query<{ n: number }>(`select count(*)::int as n from attempt`);
  return rows[0]!.n;
}

async function firstRecorded(sql: pg.Pool): Promise<void> {
  while ((await recorded(sql)) === 0) await delay(2);
}

export interface Latency {
  p50: number;
  p99: number;
}

/**
 * Milliseconds from an event to the arrival of its POST, at a steady rate: from the moment when it is in the
 * log, appended in groups as a relay does it (`fromLog`), and from the commit of a transaction with an outbox
 * row, through relay and log (`fromCommit`).
 */
export async function measureLatency(
  adminUrl: string,
  receiver: Receiver,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<{ fromLog: Latency; fromCommit: Latency }> {
  const stand = await openStand(adminUrl, [receiver.url]);
  const mail = await createBenchDatabase(adminUrl, 'mail');
  const source = new Database({ url: mail.url, applicationName: 'bench' });
  const relay = new OutboxRelay({ source, channel: stand.log.openRelay('bench', 'bench') });
  const { organizationId } = stand.principal;
  await stand.service.start();
  relay.start();
  const paths = {
    fromLog: {
      group: 10,
      send: (events: readonly EventEnvelope[]) => stand.log.publish(events.map(toLogMessage)),
    },
    fromCommit: {
      group: 1,
      send: async (events: readonly EventEnvelope[]) => {
        await source.inTenant(organizationId, (tx) => appendToOutbox(tx, events));
        relay.wake();
      },
    },
  };
  const results: Partial<Record<keyof typeof paths, Latency>> = {};
  for (const [name, { group, send }] of Object.entries(paths)) {
    const committed = new Map<string, number>();
    const sendGroup = async (): Promise<void> => {
      const events = Array.from({ length: group }, () => eventOf(organizationId));
      await send(events);
      for (const { id } of events) committed.set(id, Date.now());
    };
    // Warm first: nothing of it may arrive after the reset.
    await receiver.reset();
    await atRate(perSecond / group, 1, sendGroup);
    await arrived(receiver, committed.size);
    committed.clear();
    await receiver.reset();
    await atRate(perSecond / group, seconds, sendGroup);
    await arrived(receiver, committed.size);
    const arrivals = await receiver.arrivals();
    const waits = [...committed].map(([id, at]) =>
      Math.max(0, (arrivals.get(`${id} /`) ?? Number.POSITIVE_INFINITY) - at),
    );
    results[name as keyof typeof paths] = percentiles(waits);
  }
  await relay.stop();
  await source.close();
  await stand.close();
  await mail.drop();
  return results as Record<keyof typeof paths, Latency>;
}

/** Percentiles of event to POST of healthy endpoints, with and without one among them that hangs. */
export async function measureNoisyNeighbor(
  adminUrl: string,
  receiver: Receiver,
  { endpoints, perSecond, seconds }: { endpoints: number; perSecond: number; seconds: number },
): Promise<{ alone: Latency; beside: Latency }> {
  const measure = async (hanging: boolean): Promise<Latency> => {
    const urls = Array.from({ length: endpoints }, (_, i) =>
      i === 0 && hanging ? `${receiver.url}/e${i}?wait=14000` : `${receiver.url}/e${i}`,
    );
    const stand = await openStand(adminUrl, urls);
    await stand.service.start();
    const committed = new Map<string, number>();
    const { organizationId } = stand.principal;
    await atRate(perSecond, 1, () => stand.log.publish([toLogMessage(eventOf(organizationId))]));
    await receiver.reset();
    await atRate(perSecond, seconds, async () => {
      const event = eventOf(organizationId);
      await stand.log.publish([toLogMessage(event)]);
      committed.set(event.id, Date.now());
    });
    await arrived(receiver, committed.size * (hanging ? endpoints - 1 : endpoints));
    // Requests that hang were counted too: the last healthy ones come now.
    await delay(1_000);
    const waits = [...(await receiver.arrivals())].flatMap(([key, at]) => {
      const [id, path] = key.split(' ') as [string, string];
      const from = committed.get(id);
      return from === undefined || path.startsWith('/e0') ? [] : [Math.max(0, at - from)];
    });
    await stand.sql.query(`update endpoint set enabled = false, version = version + 1`);
    await stand.close();
    return percentiles(waits);
  };
  return { alone: await measure(false), beside: await measure(true) };
}

/** Waits for the last ones, half a minute at most. */
async function arrived(receiver: Receiver, count: number): Promise<void> {
  const until = performance.now() + 30_000;
  while ((await receiver.count()) < count && performance.now() < until) await delay(50);
}

async function atRate(
  perSecond: number,
  seconds: number,
  send: () => Promise<void>,
): Promise<void> {
  const start = performance.now();
  const sends: Promise<void>[] = [];
  for (let i = 0; i < perSecond * seconds; i += 1) {
    const due = start + (i * 1000) / perSecond;
    if (due > performance.now()) await delay(due - performance.now());
    sends.push(send());
  }
  await Promise.all(sends);
}

function percentiles(values: number[]): Latency {
  const sorted = values.sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}
