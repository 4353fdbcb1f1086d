import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { Registry } from 'prom-client';
import type { WebhookDeliveryRecord } from '@dak/contracts/api';
import { EventEnvelope, MailReceived } from '@dak/contracts/events';
import { TenantDirectoryServiceService } from '@dak/contracts/tenant';
import { WebhookServiceService } from '@dak/contracts/webhook';
import { SCOPES, uuidv7, type Principal } from '@dak/kernel';
import { createClient, InProcessChannel, type CallOptions, type Client } from '@dak/platform/grpc';
import { PostgresLog, toLogMessage, type Log } from '@dak/platform/log';
import { createLogger } from '@dak/platform/logging';
import type { VisibilityClient } from '@dak/platform/visibility';
import { createTestDatabase, type TestDatabase } from '@dak/testing/database';
import { eventually } from '@dak/testing/waiting';
import { SECRET } from './service-secret';
import { GROUP } from '../src/fan-out/fan-out';
import { createWebhookService, type WebhookService } from '../src/service';

export const MIGRATIONS = join(__dirname, '../prisma/migrations');
export const LOG_MIGRATIONS = join(__dirname, '../../../libs/platform/log/migrations');

export interface Delivered {
  path: string;
  headers: Record<string, string>;
  body: string;
  event: { id: string; type: string; sequence: number; data: Record<string, unknown> };
  at: number;
}

export interface HookSink {
  url: string;
  received: Delivered[];
  /** Answers requests; with 200 by default. */
  answer: (request: Delivered, response: ServerResponse) => void | Promise<void>;
  close(): Promise<void>;
}

/** A receiver on loopback that keeps its requests. */
export async function startHookSink(): Promise<HookSink> {
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const delivered: Delivered = {
      path: request.url ?? '',
      headers: request.headers as Record<string, string>,
      body,
      event: JSON.parse(body) as Delivered['event'],
      at: Date.now(),
    };
    sink.received.push(delivered);
    await sink.answer(delivered, response);
  };
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sink: HookSink = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: [],
    answer: (_request, response) => void response.end('ok'),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return sink;
}

/** @param readable `user/conversation` for each conversation that a regular user may read, `user/conversation/send` for one they may send in */
export function visibilityOf(readable: Set<string>): VisibilityClient {
  return {
    findReaders: async ({ places, readers }) => ({
      places: places.map(({ conversationId }) => {
        const ids = readers.map(({ userId }) => userId);
        return {
          userIds: ids.filter((id) => readable.has(`${id}/${conversationId}`)),
          senderIds: ids.filter((id) => readable.has(`${id}/${conversationId}/send`)),
        };
      }),
    }),
  };
}

export interface WebhookStack {
  service: WebhookService;
  log: Log;
  api: Client<typeof WebhookServiceService, CallOptions>;
  tenants: Client<typeof TenantDirectoryServiceService, CallOptions>;
  /** As the owner of the database. */
  sql: pg.Pool;
  readable: Set<string>;
  databaseUrl: string;
  close(): Promise<void>;
}

export async function startWebhookStack(
  change: { leaseMs?: number; visibility?: VisibilityClient } = {},
): Promise<WebhookStack> {
  const [database, logDatabase] = await Promise.all([
    createTestDatabase({ name: 'webhook', migrationsFolder: MIGRATIONS }),
    createTestDatabase({ name: 'log', migrationsFolder: LOG_MIGRATIONS }),
  ]);
  const logPool = new pg.Pool({ connectionString: logDatabase.url, max: 4 });
  logPool.on('error', () => undefined);
  const log = await PostgresLog.open({ pool: logPool, pollMs: [2, 20] });
  const readable = new Set<string>();
  const service = createWebhookService({
    databaseUrl: database.url,
    log,
    visibility: change.visibility ?? visibilityOf(readable),
    logger: createLogger('webhook', 'error'),
    metrics: new Registry(),
    secret: SECRET,
    allow: '127.0.0.1',
    ...(change.leaseMs === undefined ? {} : { leaseMs: change.leaseMs }),
  });
  await service.start();
  const sql = new pg.Pool({ connectionString: database.adminUrl, max: 2 });
  sql.on('error', () => undefined);
  const channel = new InProcessChannel(service.registry);
  return {
    service,
    log,
    api: createClient(WebhookServiceService, channel),
    tenants: createClient(TenantDirectoryServiceService, channel),
    sql,
    readable,
    databaseUrl: database.url,
    async close() {
      await service.stop();
      await log.close();
      await logPool.end();
      await sql.end();
      await dropAll([database, logDatabase]);
    },
  };
}

async function dropAll(databases: readonly TestDatabase[]): Promise<void> {
  for (const database of databases) await database.drop();
}

export function principalOf(organizationId: string, change: Partial<Principal> = {}): Principal {
  return {
    type: 'api_key',
    organizationId,
    userId: uuidv7(),
    userName: 'Grace Hopper',
    role: 'admin',
    scopes: [...SCOPES],
    credentialId: uuidv7(),
    departmentIds: [],
    ...change,
  };
}

export function callOf(principal: Principal | null, key?: string): CallOptions {
  return {
    principal,
    requestId: uuidv7(),
    deadline: Date.now() + 10_000,
    ...(key === undefined
      ? {}
      : { idempotency: { key, route: 'POST /webhooks', requestHash: 'same' } }),
  };
}

/** Default settings of an endpoint. */
export const endpointRequest = (url: string, change: object = {}) => ({
  url,
  description: '',
  eventTypes: [],
  mailboxIds: [],
  ordering: 'none',
  headers: {},
  enabled: true,
  ownSecret: false,
  ...change,
});

export function receivedEvent(
  organizationId: string,
  change: Partial<EventEnvelope> & { imported?: boolean; subject?: string } = {},
): EventEnvelope {
  const { imported, subject, ...facts } = change;
  const conversationId = facts.conversationId ?? uuidv7();
  return EventEnvelope.fromPartial({
    id: `evt_${uuidv7()}`,
    type: 'mail.received',
    source: 'mail',
    organizationId,
    mailboxId: uuidv7(),
    conversationId,
    messageId: uuidv7(),
    partitionKey: `${organizationId}:${conversationId}`,
    sequence: 1,
    occurredAt: new Date(),
    actor: { type: 'external', id: '', name: '' },
    dataSchema: 'dak.events.v1.MailReceived',
    dataVersion: 1,
    data: Buffer.from(
      MailReceived.encode(
        MailReceived.fromPartial({
          subject: subject ?? 'Hello',
          from: { email: 'ada@customer.example', name: 'Ada' },
          to: [{ email: 'support@company.example', name: '' }],
          kind: 'human',
          receivedAt: new Date(),
          imported: imported ?? false,
          conversationStatus: 'open',
        }),
      ).finish(),
    ),
    ...facts,
  });
}

/** Waits until the service has read everything published, and written its deliveries. */
export async function allRead({ log }: WebhookStack): Promise<void> {
  await eventually(async () => (await log.lag(GROUP)).every(({ records }) => records === 0));
}

export async function publish(log: Log, ...events: readonly EventEnvelope[]): Promise<void> {
  await log.publish(events.map(toLogMessage));
}

export const parsed = <T>(json: Uint8Array): T =>
  JSON.parse(Buffer.from(json).toString('utf8')) as T;

/** Newest first. */
export async function listDeliveries(
  stack: WebhookStack,
  principal: Principal,
  endpointId: string,
): Promise<WebhookDeliveryRecord[]> {
  const page = await stack.api.listDeliveries(
    { endpointId, states: [], eventTypes: [], page: { page: 0, perPage: 100, cursor: '' } },
    callOf(principal),
  );
  return parsed<WebhookDeliveryRecord[]>(page.dataJson);
}

/** Makes waiting deliveries due now. */
export async function makeDue(stack: WebhookStack, endpointId: string): Promise<void> {
  await stack.sql.query(
    `update delivery set next_at = now() where endpoint_id = $1 and state = 'pending'`,
    [endpointId],
  );
}
