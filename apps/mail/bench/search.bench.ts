import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { SCOPES, type Principal } from '@dak/kernel';
import { Database } from '@dak/platform/postgres';
import { conversationFilter } from '../src/conversations/search/conversation-filter';
import { findConversations } from '../src/conversations/search/find-conversations-store';
import { selectHits } from '../src/conversations/search/search-store';
import { textQuery } from '../src/conversations/search/text-query';

/**
 * Searches over 1,000,000 messages of one organization, in process, by whose list they are:
 * `node --import tsx apps/mail/bench/search.bench.ts ADMIN_URL [MESSAGES]`. ADMIN_URL names a superuser of a
 * PostgreSQL with some 3 GB to spare; the database `search_bench` is made, and kept for the next run.
 */
const [adminUrl, size = '1000000'] = process.argv.slice(2);
const MESSAGES = Number(size);
const PER_CONVERSATION = 4;
const ROUNDS = 20;
const MIGRATIONS = join(__dirname, '../prisma/migrations');
const NEWEST_FIRST = { column: 'last_message_at', descending: true } as const;
const FIRST_PAGE = { perPage: 25, offset: 0, after: null };

/** `w0` is in nearly every message, the frequency falls with the number. */
const QUERIES = [
  ...['hi', 'w1', 'w44', 'w123', 'w777', 'w1234', 'w4444', 'w12345', 'nosuchword'],
  ...['hi w4444', 'w100 w200', 'w2 w5 w9', '"w3 w4"', 'hi -w0'],
];

const id = (kind: number, n: number): string =>
  `${kind.toString(16).padStart(8, '0')}-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;
const ORGANIZATION = id(1, 1);

/** Shares of mailboxes: 70 % in the first, 20 % in the second, a hundred messages in the last. */
const SEED = `
  set session_replication_role = replica;
  set synchronous_commit = off;
  set maintenance_work_mem = '1GB';
  drop index message_search;
  create function bench_id(kind int, n bigint) returns uuid language sql immutable as $$
    select (lpad(to_hex(kind), 8, '0') || '-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid $$;
  insert into mailbox (organization_id, id, address, settings, created_at, updated_at)
  select bench_id(1, 1), bench_id(2, i), 'm' || i || '@bench.example', '{}', now(), now() from generate_series(1, 20) i;
  insert into mailbox_user (organization_id, mailbox_id, user_id, access)
  select bench_id(1, 1), bench_id(2, i), bench_id(9, i), 'read' from generate_series(1, 20) i;
  insert into conversation (organization_id, id, mailbox_id, number, subject, base_subject, last_message_at,
                            created_at, updated_at, message_count, department_id)
  select bench_id(1, 1), bench_id(3, i),
         bench_id(2, case when i % 1000 < 700 then 1 when i % 1000 < 900 then 2
                          when i <= 25000 and i % 1000 = 999 then 20 else 3 + i % 16 end),
         i, 'subject ' || i, 'subject ' || i, '2026-11-01'::timestamptz - make_interval(mins => i), now(), now(),
         ${PER_CONVERSATION}, case when i % 1000 = 500 then bench_id(4, 1) when i % 5 = 0 then bench_id(4, 2) end
    from generate_series(1, ${MESSAGES / PER_CONVERSATION}) i;
  insert into message (organization_id, id, conversation_id, mailbox_id, direction, status, subject, base_subject,
                       body_text, preview, author_type, sort_at, created_at, updated_at, search)
  select c.organization_id, bench_id(5, c.number * ${PER_CONVERSATION} + j), c.id, c.mailbox_id, 'inbound', 'received',
         c.subject, c.subject, t.body, left(t.body, 100), 'external', c.last_message_at - make_interval(secs => j),
         now(), now(),
         ('''@' || c.organization_id || ''' ''@' || c.mailbox_id || '''')::tsvector || to_tsvector('simple', t.body)
    from conversation c
   cross join generate_series(0, ${PER_CONVERSATION - 1}) j
   cross join lateral (
         select 'hi ' || string_agg('w' || floor(50000 * power(random(), 4))::int, ' ') as body
           from generate_series(1, 25) g where c.number > 0 and j >= 0) t;
  create index message_search on message using gin (search);
  set session_replication_role = origin;
  analyze;`;

async function main(): Promise<void> {
  if (adminUrl === undefined) throw new Error('Name the URL of an administrator.');
  const url = await prepare(adminUrl);
  const database = new Database({ url, applicationName: 'search bench', maxConnections: 2 });
  try {
    for (const [name, caller] of callers()) await measure(database, name, caller);
  } finally {
    await database.close();
  }
}

async function prepare(admin: string): Promise<string> {
  const url = new URL(admin);
  const client = new Client({ connectionString: admin });
  await client.connect();
  const { rowCount } = await client.query(`select from pg_database where datname = 'search_bench'`);
  if (rowCount === 0) await client.query('create database search_bench');
  await client.end();
  url.pathname = '/search_bench';
  const target = new Client({ connectionString: url.href });
  await target.connect();
  if (rowCount === 0) {
    process.stderr.write(`Making ${MESSAGES} messages, some minutes …\n`);
    for (const folder of readdirSync(MIGRATIONS).sort()) {
      await target.query(readFileSync(join(MIGRATIONS, folder, 'migration.sql'), 'utf8'));
    }
    await target.query(SEED);
    await target.query('vacuum analyze');
    await target.query(`
      do $$ begin create role search_bench login; exception when duplicate_object then null; end $$;
      grant select on all tables in schema public to search_bench`);
  }
  await target.end();
  url.username = 'search_bench';
  return url.href;
}

/** Whose lists are searched: of few and of many messages, by mailbox, by department, and all. */
function callers(): [string, Principal][] {
  const user = (n: number, departmentIds: string[] = []): Principal => ({
    type: 'session',
    organizationId: ORGANIZATION,
    userId: id(9, n),
    userName: 'Bench',
    role: 'user',
    scopes: SCOPES,
    credentialId: ORGANIZATION,
    departmentIds,
  });
  return [
    ['one mailbox, 0.01 % of the messages', user(20)],
    ['one mailbox, 0.6 %', user(3)],
    ['one mailbox, 20 %', user(2)],
    ['one mailbox, 70 %', user(1)],
    ['a department, 0.1 %', user(99, [id(4, 1)])],
    ['a department, 20 %', user(99, [id(4, 2)])],
    ['an admin', { ...user(98), role: 'admin' }],
  ];
}

async function measure(database: Database, name: string, caller: Principal): Promise<void> {
  const filter = conversationFilter({}, caller)!;
  const searches: number[] = [];
  const lists: number[] = [];
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const typed of QUERIES) {
      const begun = performance.now();
      await database.inTenant(ORGANIZATION, (tx) =>
        selectHits(tx, caller, textQuery(typed)!, filter, ['conversation', 'message'], FIRST_PAGE),
      );
      const searched = performance.now();
      await database.inTenant(ORGANIZATION, (tx) =>
        findConversations(tx, caller, { ...filter, query: typed }, NEWEST_FIRST, FIRST_PAGE),
      );
      if (round < 0) continue;
      searches.push(searched - begun);
      lists.push(performance.now() - searched);
    }
  }
  process.stdout.write(
    `${name}: search ${percentiles(searches)}, list with q ${percentiles(lists)}\n`,
  );
}

function percentiles(times: number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): string => sorted[Math.floor(sorted.length * share)]!.toFixed(0);
  return `p50 ${at(0.5)} / p95 ${at(0.95)} ms`;
}

void main();
