-- Events of committed changes on their way to the log. The runtime role may append in any
-- transaction; only a worker (the relay) reads and deletes.
create table outbox (
  seq        bigint generated always as identity primary key,
  id         text        not null,
  topic      text        not null,
  key        text        not null,
  shard      smallint    not null,
  headers    jsonb       not null,
  payload    bytea       not null,
  created_at timestamptz not null default now()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

alter table outbox enable row level security;
create policy outbox_append on outbox for insert with check (true);
create policy outbox_relay on outbox using (current_setting('dak.worker', true) = 'on');

-- What consumers of this service have done: inserted in the transaction of the effect.
create table inbox (
  group_name  text        not null,
  event_id    text        not null,
  received_at timestamptz not null default now(),
  primary key (group_name, event_id)
);
create index inbox_by_age on inbox (received_at);
-- The envelope in payload names id, key and headers. Only processes of a former version still write them;
-- once none runs any more, the columns go.
alter table outbox
  alter column id drop not null,
  alter column key drop not null,
  alter column headers drop not null;
