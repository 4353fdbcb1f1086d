-- Row-level security: every policy compares the transaction-local setting that
-- @dak/platform/postgres makes; without it no tenant row is visible.
create function dak_tenant() returns uuid
  language sql stable parallel safe
  as $$ select nullif(current_setting('dak.organization_id', true), '')::uuid $$;

-- Background workers look across tenants, in the tables whose policies name them only.
create function dak_is_worker() returns boolean
  language sql stable parallel safe
  as $$ select coalesce(current_setting('dak.worker', true) = 'on', false) $$;

-- What the gateway has told us about an organization, and its conversation numbers.
create table organization (
  organization_id   uuid primary key,
  name              text not null,
  status            text not null default 'active',
  time_zone         text not null default 'UTC',
  default_from_name text,
  last_number       bigint not null default 0,
  updated_at        timestamptz not null
);
alter table organization enable row level security;
create policy tenant on organization using (organization_id = dak_tenant() or dak_is_worker());

create table mailbox (
  organization_id      uuid not null,
  id                   uuid not null,
  address              text not null,
  display_name         text,
  kind                 text not null default 'hosted',
  status               text not null default 'active',
  domain_id            uuid,
  default_signature_id uuid,
  policy_id            uuid,
  agent_mode           text not null default 'approve',
  settings             jsonb not null,
  metadata             jsonb not null default '{}',
  client_id            text,
  version              integer not null default 1,
  created_at           timestamptz not null,
  updated_at           timestamptz not null,
  deleted_at           timestamptz,
  primary key (organization_id, id)
);
-- An address is where mail from outside is delivered, so it can be live once in a deployment.
create unique index mailbox_live_address on mailbox (address) where deleted_at is null;
create unique index mailbox_client_id on mailbox (organization_id, client_id) where client_id is not null and deleted_at is null;
alter table mailbox enable row level security;
create policy tenant on mailbox using (organization_id = dak_tenant());
create policy worker on mailbox for select using (dak_is_worker());

create table mailbox_user (
  organization_id uuid not null,
  mailbox_id      uuid not null,
  user_id         uuid not null,
  access          text not null default 'send',
  primary key (organization_id, mailbox_id, user_id),
  foreign key (organization_id, mailbox_id) references mailbox on delete cascade
);
create index mailbox_user_by_user on mailbox_user (organization_id, user_id, mailbox_id, access);
alter table mailbox_user enable row level security;
create policy tenant on mailbox_user using (organization_id = dak_tenant());

create table mailbox_department (
  organization_id uuid not null,
  mailbox_id      uuid not null,
  department_id   uuid not null,
  primary key (organization_id, mailbox_id, department_id),
  foreign key (organization_id, mailbox_id) references mailbox on delete cascade
);
create index mailbox_department_by_department on mailbox_department (organization_id, department_id, mailbox_id);
alter table mailbox_department enable row level security;
create policy tenant on mailbox_department using (organization_id = dak_tenant());

create table conversation (
  organization_id        uuid not null,
  id                     uuid not null,
  mailbox_id             uuid not null,
  number                 bigint not null,
  subject                text not null default '',
  base_subject           text not null default '',
  preview                text not null default '',
  status                 text not null default 'open',
  disposition            text not null default 'normal',
  priority               text not null default 'normal',
  department_id          uuid,
  assignee_type          text,
  assignee_id            text,
  assignee_name          text,
  labels                 text[] not null default '{}',
  system_labels          text[] not null default '{}',
  participants           jsonb not null default '[]',
  snoozed_until          timestamptz,
  snooze_wake_on_reply   boolean not null default true,
  status_before_snooze   text,
  message_count          integer not null default 0,
  unread_count           integer not null default 0,
  attachment_count       integer not null default 0,
  size_bytes             bigint not null default 0,
  last_message_id        uuid,
  last_message_at        timestamptz not null,
  last_inbound_at        timestamptz,
  last_outbound_at       timestamptz,
  first_response_at      timestamptz,
  waiting_since          timestamptz,
  open_draft_id          uuid,
  open_approval_id       uuid,
  scheduled_count        integer not null default 0,
  trust                  jsonb,
  merged_into_id         uuid,
  linked_conversation_id uuid,
  metadata               jsonb not null default '{}',
  resolved_at            timestamptz,
  event_sequence         bigint not null default 0,
  version                integer not null default 1,
  created_at             timestamptz not null,
  updated_at             timestamptz not null,
  primary key (organization_id, id),
  foreign key (organization_id, mailbox_id) references mailbox
);
create unique index conversation_number on conversation (organization_id, number);
-- The page of a mailbox, newest first; a page over many mailboxes merges the heads of these ranges.
-- Status and disposition ride along, so that choosing the ids of a page reads the index only.
create index conversation_by_mailbox on conversation
  (organization_id, mailbox_id, last_message_at desc, id desc) include (status, disposition)
  where merged_into_id is null;
create index conversation_by_mailbox_status on conversation
  (organization_id, mailbox_id, status, last_message_at desc, id desc) include (disposition)
  where merged_into_id is null;
create index conversation_by_department on conversation
  (organization_id, department_id, last_message_at desc, id desc) include (mailbox_id, status, disposition)
  where merged_into_id is null and department_id is not null;
create index conversation_by_time on conversation
  (organization_id, last_message_at desc, id desc) include (mailbox_id, status, disposition)
  where merged_into_id is null;
create index conversation_by_status on conversation
  (organization_id, status, last_message_at desc, id desc) include (mailbox_id, disposition)
  where merged_into_id is null;
create index conversation_by_assignee on conversation
  (organization_id, assignee_id, last_message_at desc, id desc)
  where merged_into_id is null and assignee_id is not null;
create index conversation_by_subject on conversation (organization_id, mailbox_id, base_subject, last_message_at desc);
create index conversation_resolved on conversation (resolved_at) where status = 'resolved';
create index conversation_to_wake on conversation (snoozed_until) where status = 'snoozed' and snoozed_until is not null;
alter table conversation enable row level security;
create policy tenant on conversation using (organization_id = dak_tenant());
create policy worker on conversation for select using (dak_is_worker());

-- How many conversations there are per mailbox, department, status and disposition, and how large they
-- are: the totals of lists, the counts and the storage of mailboxes. Each conversation is in exactly one
-- cell; a cell is spread over slots, so that concurrent transactions rarely wait for one another.
create table conversation_tally (
  organization_id uuid not null,
  mailbox_id      uuid not null,
  department_id   uuid not null, -- the nil UUID = none
  status          text not null,
  disposition     text not null,
  slot            smallint not null,
  conversations   bigint not null,
  unread          bigint not null,
  size_bytes      bigint not null,
  primary key (organization_id, mailbox_id, department_id, status, disposition, slot)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
create index conversation_tally_by_department on conversation_tally (organization_id, department_id);
alter table conversation_tally enable row level security;
create policy tenant on conversation_tally using (organization_id = dak_tenant());

-- One upsert per statement, whatever the number of rows; cells in one order, so that two batches do
-- not wait for each other crosswise.
create function tally_added() returns trigger
  language plpgsql as $$
  begin
    insert into conversation_tally as t
           (organization_id, mailbox_id, department_id, status, disposition, slot, conversations, unread, size_bytes)
    select c.organization_id, c.mailbox_id, coalesce(c.department_id, '00000000-0000-0000-0000-000000000000'),
           c.status, c.disposition, pg_backend_pid() % 8,
           count(*), count(*) filter (where c.unread_count > 0), sum(c.size_bytes)
      from added c
     where c.merged_into_id is null
     group by 1, 2, 3, 4, 5
     order by 1, 2, 3, 4, 5
        on conflict (organization_id, mailbox_id, department_id, status, disposition, slot)
        do update set conversations = t.conversations + excluded.conversations,
                      unread        = t.unread + excluded.unread,
                      size_bytes    = t.size_bytes + excluded.size_bytes;
    return null;
  end $$;

create function tally_changed() returns trigger
  language plpgsql as $$
  begin
    insert into conversation_tally as t
           (organization_id, mailbox_id, department_id, status, disposition, slot, conversations, unread, size_bytes)
    select c.organization_id, c.mailbox_id, coalesce(c.department_id, '00000000-0000-0000-0000-000000000000'),
           c.status, c.disposition, pg_backend_pid() % 8,
           sum(c.direction), coalesce(sum(c.direction) filter (where c.unread_count > 0), 0), sum(c.direction * c.size_bytes)
      from (select a.organization_id, a.mailbox_id, a.department_id, a.status, a.disposition, a.unread_count,
                   a.size_bytes, a.merged_into_id, 1 as direction
              from added a
             union all
            select r.organization_id, r.mailbox_id, r.department_id, r.status, r.disposition, r.unread_count,
                   r.size_bytes, r.merged_into_id, -1
              from removed r) c
     where c.merged_into_id is null
     group by 1, 2, 3, 4, 5
    having sum(c.direction) <> 0
        or coalesce(sum(c.direction) filter (where c.unread_count > 0), 0) <> 0
        or sum(c.direction * c.size_bytes) <> 0
     order by 1, 2, 3, 4, 5
        on conflict (organization_id, mailbox_id, department_id, status, disposition, slot)
        do update set conversations = t.conversations + excluded.conversations,
                      unread        = t.unread + excluded.unread,
                      size_bytes    = t.size_bytes + excluded.size_bytes;
    return null;
  end $$;

create function tally_removed() returns trigger
  language plpgsql as $$
  begin
    insert into conversation_tally as t
           (organization_id, mailbox_id, department_id, status, disposition, slot, conversations, unread, size_bytes)
    select c.organization_id, c.mailbox_id, coalesce(c.department_id, '00000000-0000-0000-0000-000000000000'),
           c.status, c.disposition, pg_backend_pid() % 8,
           -count(*), -count(*) filter (where c.unread_count > 0), -sum(c.size_bytes)
      from removed c
     where c.merged_into_id is null
     group by 1, 2, 3, 4, 5
     order by 1, 2, 3, 4, 5
        on conflict (organization_id, mailbox_id, department_id, status, disposition, slot)
        do update set conversations = t.conversations + excluded.conversations,
                      unread        = t.unread + excluded.unread,
                      size_bytes    = t.size_bytes + excluded.size_bytes;
    return null;
  end $$;

create trigger tally_added after insert on conversation
  referencing new table as added for each statement execute function tally_added();
create trigger tally_changed after update on conversation
  referencing old table as removed new table as added for each statement execute function tally_changed();
create trigger tally_removed after delete on conversation
  referencing old table as removed for each statement execute function tally_removed();

create table message (
  organization_id   uuid not null,
  id                uuid not null,
  conversation_id   uuid not null,
  mailbox_id        uuid not null,
  direction         text not null,
  status            text not null,
  kind              text,
  from_address      jsonb,               -- {email, name}
  to_addresses      jsonb not null default '[]',
  cc_addresses      jsonb not null default '[]',
  bcc_addresses     jsonb not null default '[]',
  reply_to          jsonb not null default '[]',
  subject           text not null default '',
  base_subject      text not null default '',
  body_text         text,
  body_html         text,                -- sanitized; the original stays in the raw message
  text_new          text,
  html_new          text,
  extraction        jsonb,
  preview           text not null default '',
  message_id_header text,
  in_reply_to       text,
  reference_ids     text[] not null default '{}',
  authentication    jsonb,
  flags             jsonb not null default '{}',
  safety            jsonb,
  author_type       text not null,
  author_id         text,
  author_name       text not null default '',
  author_run_id     text,
  mentions          text[] not null default '{}',
  unread            boolean not null default false,
  labels            text[] not null default '{}',
  raw_sha256        text,                -- the RFC 5322 message in the blob store; null for notes
  size_bytes        bigint not null default 0,
  attachment_count  integer not null default 0,
  -- sha256 of Message-ID and content: the same mail arriving twice in a mailbox is stored once.
  dedupe_key        bytea,
  parser_version    integer not null default 1,
  -- Where the message stands in its conversation: Date of inbound mail (bounded by arrival), time of accept otherwise.
  sort_at           timestamptz not null,
  send_at           timestamptz,
  sent_at           timestamptz,
  received_at       timestamptz,
  opened_at         timestamptz,
  -- Made by the service (apps/mail/src/search/search-vector.ts), which also reads what is searched for.
  search            tsvector not null default '',
  version           integer not null default 1,
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  primary key (organization_id, id),
  -- Deferred: messages are stored first, because the unique dedupe_key decides whether their conversation is needed.
  foreign key (organization_id, conversation_id) references conversation deferrable initially deferred
);
create index message_by_conversation on message (organization_id, conversation_id, sort_at, id);
create unique index message_dedupe on message (organization_id, mailbox_id, dedupe_key) where dedupe_key is not null;
create index message_by_message_id on message (organization_id, mailbox_id, message_id_header) where message_id_header is not null;
create index message_by_subject on message (organization_id, mailbox_id, base_subject, sort_at);
create index message_search on message using gin (search);
alter table message enable row level security;
create policy tenant on message using (organization_id = dak_tenant());

-- Full-text search is not leakproof, so under row-level security it could not use its index: these
-- functions do, as the owner of the table, and hold themselves to the tenant. `is not distinct from`
-- keeps the planner from reading every message of the tenant by another index; work_mem keeps the
-- bitmap of a common word exact.
create function search_messages(query tsquery, most integer)
  returns table (id uuid, conversation_id uuid, mailbox_id uuid, sort_at timestamptz, rank real)
  language sql stable security definer rows 100 set search_path = public set work_mem = '32MB'
  as $$
    select m.id, m.conversation_id, m.mailbox_id, m.sort_at, ts_rank(m.search, query)
      from message m
     where m.organization_id is not distinct from dak_tenant()
       and m.search @@ (quote_literal('@' || dak_tenant()::text)::tsquery && query)
     limit most
  $$;

create function search_conversations(query tsquery, most integer)
  returns setof uuid
  language sql stable security definer rows 100 set search_path = public set work_mem = '32MB'
  as $$
    select distinct s.conversation_id
      from (select m.conversation_id
              from message m
             where m.organization_id is not distinct from dak_tenant()
               and m.search @@ (quote_literal('@' || dak_tenant()::text)::tsquery && query)
             limit most) s
  $$;

create table attachment (
  organization_id uuid not null,
  id              uuid not null,
  message_id      uuid not null,
  position        integer not null,
  filename        text not null,
  content_type    text not null,
  size_bytes      bigint not null,
  sha256          text not null,
  disposition     text not null,
  content_id      text,
  scan_status     text not null default 'not_scanned',
  primary key (organization_id, id),
  foreign key (organization_id, message_id) references message on delete cascade
);
create index attachment_by_message on attachment (organization_id, message_id, position);
alter table attachment enable row level security;
create policy tenant on attachment using (organization_id = dak_tenant());

create table label (
  organization_id uuid not null,
  id              uuid not null,
  name            text not null,
  color           text,
  description     text,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  primary key (organization_id, id)
);
create unique index label_name on label (organization_id, name);
alter table label enable row level security;
create policy tenant on label using (organization_id = dak_tenant());

create table activity (
  organization_id uuid not null,
  id              uuid not null,
  conversation_id uuid not null,
  at              timestamptz not null,
  type            text not null,
  before          jsonb,
  after           jsonb,
  actor_type      text not null,
  actor_id        text,
  actor_name      text not null default '',
  reason          text,
  run_id          text,
  primary key (organization_id, id),
  foreign key (organization_id, conversation_id) references conversation
);
create index activity_by_conversation on activity (organization_id, conversation_id, at desc, id desc);
alter table activity enable row level security;
create policy tenant on activity using (organization_id = dak_tenant());

-- A POST with an Idempotency-Key and its answer, stored with the effect; kept 24 hours.
create table idempotency_record (
  organization_id  uuid not null,
  principal_id     uuid not null,        -- the credential
  route            text not null,
  key              text not null,
  request_hash     text not null,
  response_id      text not null,        -- empty where the answer is no record
  response_version bigint not null,
  response_json    text not null,
  created_at       timestamptz not null,
  primary key (organization_id, principal_id, route, key)
);
create index idempotency_record_age on idempotency_record (created_at);
alter table idempotency_record enable row level security;
create policy tenant on idempotency_record using (organization_id = dak_tenant());
create policy worker on idempotency_record using (dak_is_worker());
