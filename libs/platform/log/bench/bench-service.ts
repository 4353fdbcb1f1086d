import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { EventEnvelope } from '@dak/contracts/events';
import { Database, type Transaction } from '@dak/platform/postgres';
import { appendToOutbox } from '../src/index';
import { outboxSql } from '../test/outbox-sql';

export const ORGANIZATION = '0192f0c4-0000-7000-8000-000000000001';
const CONVERSATIONS = 997;

/** What a received mail changes, as the mail service does it, with the sizes that are usual there. */
const TABLES = `
  create table conversation (id text primary key, version bigint not null default 0,
    subject text not null default 'Quarterly figures', updated_at timestamptz not null default now());
  create table message (id uuid primary key, conversation_id text not null, header jsonb not null,
    body text not null, created_at timestamptz not null default now());
  create index message_by_conversation on message (conversation_id, created_at);
  create table activity (id uuid primary key, conversation_id text not null, kind text not null,
    detail jsonb not null, created_at timestamptz not null default now());
  create index activity_by_conversation on activity (conversation_id, created_at);`;

const BODY = 'All work and no play makes a dull mail. '.repeat(100);
const HEADER = JSON.stringify({
  from: 'asha@customer.example',
  to: ['support@acme.example'],
  subject: 'Quarterly figures',
  references: Array.from({ length: 5 }, (_, n) => `<${n}.0192f0c4@customer.example>`),
});

export interface BenchService {
  database: Database;
  close(): Promise<void>;
}

/** A service database with the outbox and a mail-like schema, deleted by `close`. */
export async function openBenchService(adminUrl: string): Promise<BenchService> {
  const name = `log_bench_${randomUUID().replaceAll('-', '')}`;
  const admin = new pg.Pool({ connectionString: adminUrl, max: 1 });
  await admin.query(`create database ${name}`);
  const database = new Database({
    url: adminUrl.replace(/[^/]+$/, name),
    applicationName: 'log-bench',
  });
  await database.pool.query(outboxSql());
  await database.pool.query(TABLES);
  await database.pool.query(
    `insert into conversation (id) select 'c' || n from generate_series(0, $1::integer - 1) as n`,
    [CONVERSATIONS],
  );
  return {
    database,
    close: async () => {
      await database.close();
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}

/**
 * Locks the conversation, as every writer to the outbox has to, and stores a message with its activity
 * and, if wanted, the event; what needs no answer of another shares a round trip.
 */
export async function receiveMail(tx: Transaction, n: number, withEvent: boolean): Promise<void> {
  const conversation = `c${n % CONVERSATIONS}`;
  await tx.query(
    `update conversation set version = version + 1, updated_at = now() where id = $1 returning version`,
    [conversation],
  );
  await Promise.all([
    tx.query(`insert into message (id, conversation_id, header, body) values ($1, $2, $3, $4)`, [
      ...[randomUUID(), conversation, HEADER, BODY],
    ]),
    tx.query(
      `insert into activity (id, conversation_id, kind, detail) values ($1, $2, 'received', $3)`,
      [randomUUID(), conversation, HEADER],
    ),
    withEvent ? appendToOutbox(tx, [eventOf(n)]) : null,
  ]);
}

export function eventOf(n: number): EventEnvelope {
  const conversationId = `c${n % CONVERSATIONS}`;
  return {
    id: `evt_0192f0c4-0000-7000-8000-${String(n).padStart(12, '0')}`,
    type: 'mail.received',
    source: 'mail',
    organizationId: ORGANIZATION,
    conversationId,
    partitionKey: `${ORGANIZATION}:${conversationId}`,
    causationDepth: 0,
    sequence: n,
    occurredAt: new Date(),
    dataSchema: 'dak.events.v1.MailReceived',
    dataVersion: 1,
    data: Buffer.alloc(600, n % 256),
  };
}
