-- The log: one row per event, in order per (topic, part). Retention drops whole days.
create table event_log (
  topic        text        not null,
  part         integer     not null,
  off          bigint      not null,
  event_id     text        not null,
  key          text        not null,
  headers      jsonb       not null,
  payload      bytea       not null,
  published_at timestamptz not null,
  primary key (topic, part, off, published_at)
) partition by range (published_at);

-- The end of each partition. Whoever appends holds this row's lock until its commit, so offsets are
-- contiguous and become visible in order.
create table log_partition (
  topic    text    not null,
  part     integer not null,
  next_off bigint  not null default 0,
  primary key (topic, part)
);

-- Who relays a shard of a service's outbox. last_seqs are the outbox rows of the latest publication:
-- the only ones that may be in the log and still in the outbox.
create table log_shard_lease (
  source      text        not null,
  shard       smallint    not null,
  owner       text,
  epoch       bigint      not null default 0,
  lease_until timestamptz not null default '-infinity',
  last_seqs   bigint[]    not null default '{}',
  primary key (source, shard)
);

create table consumer_member (
  group_name  text        not null,
  member      text        not null,
  lease_until timestamptz not null,
  primary key (group_name, member)
);

-- off is the next offset to read. A commit names the epoch under which the partition was claimed.
create table consumer_offset (
  group_name  text        not null,
  topic       text        not null,
  part        integer     not null,
  off         bigint      not null,
  owner       text,
  epoch       bigint      not null default 0,
  lease_until timestamptz not null default '-infinity',
  primary key (group_name, topic, part)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- Keys that a group cannot go on with; later events of the key wait behind the first.
create table parked_key (
  group_name   text        not null,
  topic        text        not null,
  key          text        not null,
  reason       text        not null,
  parked_at    timestamptz not null default now(),
  replay_until timestamptz not null default '-infinity',
  primary key (group_name, topic, key)
);

create table parked_message (
  group_name   text        not null,
  topic        text        not null,
  key          text        not null,
  part         integer     not null,
  off          bigint      not null,
  event_id     text        not null,
  headers      jsonb       not null,
  payload      bytea       not null,
  published_at timestamptz not null,
  primary key (group_name, topic, key, part, off),
  foreign key (group_name, topic, key) references parked_key on delete cascade
);

-- Makes the partitions of the coming days and drops those whose last event is older than keep_days.
-- Runs with the owner's rights, because the runtime role owns nothing.
create function maintain_event_log(keep_days integer, ahead_days integer) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  today date := (now() at time zone 'UTC')::date;
  day   date;
  old   text;
begin
  perform pg_advisory_xact_lock(hashtext('dak:event-log'));
  for day in select generate_series(today - 1, today + ahead_days, interval '1 day')::date loop
    if to_regclass('public.event_log_' || to_char(day, 'YYYYMMDD')) is null then
      execute format(
        'create table public.event_log_%s partition of public.event_log for values from (%L) to (%L)',
        to_char(day, 'YYYYMMDD'), day || ' 00:00:00+00', (day + 1) || ' 00:00:00+00');
    end if;
  end loop;
  for old in
    select child.relname
      from pg_inherits
      join pg_class child on child.oid = pg_inherits.inhrelid
     where pg_inherits.inhparent = 'public.event_log'::regclass
       and child.relname ~ '^event_log_[0-9]{8}$'
       and to_date(right(child.relname, 8), 'YYYYMMDD') < today - keep_days
  loop
    execute format('drop table public.%I', old);
  end loop;
end $$;

revoke all on function maintain_event_log(integer, integer) from public;
