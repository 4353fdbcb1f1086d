import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { uuidv4 } from '@dak/kernel';

export interface SeedOptions {
  conversations: number;
  messages: number;
  mailboxes: number;
  users: number;
  /** Mailboxes assigned to each user, round robin. @default all of them, at most 20 */
  mailboxesPerUser?: number;
}

export interface Seed {
  organizationId: string;
  mailboxIds: string[];
  userIds: string[];
}

const PHRASES = [
  'please find the invoice attached',
  'the delivery has not arrived yet',
  'thank you for the quick answer',
  'we would like to change the order',
  'the warranty covers two years',
  'kindly confirm the bank details',
  'our address in Pune has changed',
  'the meeting moves to Thursday',
  'refund was promised last week',
  'see the quotation for forty units',
  'login fails with an error message',
  'the contract ends in March',
  'could you resend the documents',
  'shipping to Chennai takes five days',
  'the sample looks very good',
  'our accountant needs the GSTIN',
];

/**
 * Fills a migrated mail database with one tenant of believable size, in a few statements made of sets:
 * a million messages take about a minute. Needs a superuser's URL, since foreign keys and the text
 * index are put off until the rows are there.
 */
export async function seedConversations(adminUrl: string, options: SeedOptions): Promise<Seed> {
  const seed: Seed = {
    organizationId: uuidv4(),
    mailboxIds: Array.from({ length: options.mailboxes }, () => uuidv4()),
    userIds: Array.from({ length: options.users }, () => uuidv4()),
  };
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  try {
    await client.query(`set synchronous_commit = off; set maintenance_work_mem = '512MB'`);
    await insertMailboxes(client, seed, options);
    await insertConversations(client, seed, options);
    await insertMessages(client, seed, options);
    await client.query('vacuum analyze conversation');
    await client.query('vacuum analyze conversation_tally');
    await client.query('vacuum analyze message');
    await client.query('analyze');
  } finally {
    await client.end();
  }
  return seed;
}

async function insertMailboxes(client: Client, seed: Seed, options: SeedOptions): Promise<void> {
  const suffix = randomBytes(4).toString('hex');
  await client.query(
    `insert into organization (organization_id, name, last_number, updated_at) values ($1, 'Seed', $2, now())`,
    [seed.organizationId, options.conversations],
  );
  await client.query(
    `insert into mailbox (organization_id, id, address, settings, created_at, updated_at)
     select $1, id, 'seed' || n || '-' || $3 || '@example.org', '{}', now(), now()
       from unnest($2::uuid[]) with ordinality as m(id, n)`,
    [seed.organizationId, seed.mailboxIds, suffix],
  );
  const each = options.mailboxesPerUser ?? Math.min(20, options.mailboxes);
  const pairs = seed.userIds.flatMap((userId, index) =>
    Array.from({ length: each }, (_, n) => ({
      user_id: userId,
      mailbox_id: seed.mailboxIds[(index * each + n) % options.mailboxes]!,
    })),
  );
  await client.query(
    `insert into mailbox_user (organization_id, mailbox_id, user_id)
     select $1, mailbox_id, user_id from json_to_recordset($2) as a(user_id uuid, mailbox_id uuid)
         on conflict do nothing`,
    [seed.organizationId, JSON.stringify(pairs)],
  );
}

/** A UUIDv7 made of a time and a number (RFC 9562 §5.7), so that ids are in order of time as in life. */
const timeOrdered = (at: string, n: string, tag: string): string =>
  `(lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0') || '7' || '${tag}8'
     || lpad(to_hex(${n}), 15, '0'))::uuid`;

async function insertConversations(
  client: Client,
  seed: Seed,
  options: SeedOptions,
): Promise<void> {
  const perConversation = Math.max(1, Math.round(options.messages / options.conversations));
  await client.query(
    `insert into conversation
            (organization_id, id, mailbox_id, number, subject, base_subject, preview, status, labels, system_labels,
             participants, message_count, unread_count, size_bytes, last_message_at, last_inbound_at,
             waiting_since, created_at, updated_at)
     select $1, ${timeOrdered('begun', 'n', 'c00')}, ($2::uuid[])[1 + (hashint8(n) & 1048575) % cardinality($2::uuid[])],
            n, initcap(phrase) || ' (' || n || ')', phrase || ' (' || n || ')', phrase || ' and more',
            (array['open', 'open', 'waiting', 'pending', 'resolved', 'closed', 'closed', 'closed'])[1 + n % 8],
            case when n % 5 = 0 then array['billing', 'vip'] else array['support'] end,
            case when n % 4 = 0 then array['unread'] else '{}'::text[] end,
            jsonb_build_array(
              jsonb_build_object('email', 'customer' || n % 5000 || '@customer.example', 'name', 'Customer ' || n % 5000,
                                 'role', 'customer'),
              jsonb_build_object('email', 'agent@example.org', 'name', 'Agent', 'role', 'internal')),
            $4, case when n % 4 = 0 then 1 else 0 end, 4096 * $4,
            begun + make_interval(mins => $4 * 30 + n % 1000), begun, case when n % 8 < 2 then begun end, begun, begun
       from (select n, now() - interval '2 years' + interval '2 years' * n / $3::int as begun,
                    ($5::text[])[1 + (hashint8(n * 7) & 1048575) % cardinality($5::text[])] as phrase
               from generate_series(1, $3::int) as n) s`,
    [seed.organizationId, seed.mailboxIds, options.conversations, perConversation, PHRASES],
  );
}

async function insertMessages(client: Client, seed: Seed, options: SeedOptions): Promise<void> {
  const perConversation = Math.max(1, Math.round(options.messages / options.conversations));
  const { rows } = await client.query<{ indexdef: string }>(
    `select indexdef from pg_indexes where tablename = 'message' and indexname = 'message_search'`,
  );
  await client.query(`set session_replication_role = replica; drop index message_search`);
  await client.query(
    `insert into message
            (organization_id, id, conversation_id, mailbox_id, direction, status, kind, from_address, to_addresses,
             subject, base_subject, body_text, text_new, preview, message_id_header, author_type, author_name, unread,
             size_bytes, sort_at, received_at, created_at, updated_at, search)
     select c.organization_id, ${timeOrdered('s.sort_at', 'c.number * 1000 + s.position', 'a00')}, c.id, c.mailbox_id,
            case when s.position % 2 = 1 then 'inbound' else 'outbound' end,
            case when s.position % 2 = 1 then 'received' else 'sent' end,
            case when s.position % 2 = 1 then 'human' end,
            case when s.position % 2 = 1 then c.participants -> 0 else c.participants -> 1 end - 'role',
            jsonb_build_array(case when s.position % 2 = 1 then c.participants -> 1 else c.participants -> 0 end - 'role'),
            c.subject, c.base_subject, body, body, left(body, 200),
            'seed-' || c.number || '-' || s.position || '@customer.example', 'external', 'Customer',
            c.unread_count > 0 and s.position = 1, 4096, s.sort_at, s.sort_at, s.sort_at, s.sort_at,
            array_to_tsvector(array['@' || c.organization_id, '@' || c.mailbox_id]) ||
              setweight(to_tsvector('simple', c.subject), 'A') || to_tsvector('simple', body)
       from conversation c
      cross join lateral (
            select p as position, c.created_at + make_interval(mins => (p - 1)::int * 30) as sort_at,
                   concat_ws('. ', ($3::text[])[1 + (c.number + p) % $4], ($3::text[])[1 + (c.number * 3 + p * 5) % $4],
                             ($3::text[])[1 + (c.number * 7 + p * 11) % $4], 'Reference R' || c.number || 'M' || p) as body
              from generate_series(1, $2::int) as p) s
      where c.organization_id = $1`,
    [seed.organizationId, perConversation, PHRASES, PHRASES.length],
  );
  await client.query('set session_replication_role = origin');
  await client.query(rows[0]!.indexdef);
  // Without statistics the join below takes one conversation after the other.
  await client.query('analyze message, conversation');
  await client.query(
    `update conversation c
        set last_message_id = m.id, last_message_at = m.sort_at
       from (select distinct on (conversation_id) conversation_id, id, sort_at
               from message where organization_id = $1
              order by conversation_id, sort_at desc, id desc) m
      where c.organization_id = $1 and c.id = m.conversation_id`,
    [seed.organizationId],
  );
}
