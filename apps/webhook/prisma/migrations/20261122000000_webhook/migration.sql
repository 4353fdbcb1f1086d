-- Row-level security: every policy compares the transaction-local setting that
-- @dak/platform/postgres makes; without it no tenant row is visible.
create function dak_tenant() returns uuid
  language sql stable parallel safe
  as $$ select nullif(current_setting('dak.organization_id', true), '')::uuid $$;

-- Background workers look across tenants.
create function dak_is_worker() returns boolean
  language sql stable parallel safe
  as $$ select coalesce(current_setting('dak.worker', true) = 'on', false) $$;

-- What the gateway has told us about organizations and their people.
create table organization (
  organization_id uuid primary key,
  name            text not null,
  status          text not null default 'active',   -- active or suspended
  updated_at      timestamptz not null
);
alter table organization enable row level security;
create policy tenant on organization using (organization_id = dak_tenant() or dak_is_worker());

create table person (
  organization_id uuid not null,
  user_id         uuid not null,
  role            text not null,                     -- user, admin or superadmin
  active          boolean not null,
  department_ids  uuid[] not null default '{}',
  version         bigint not null,                   -- grows; an older announcement changes nothing
  updated_at      timestamptz not null,
  primary key (organization_id, user_id)
);
alter table person enable row level security;
create policy tenant on person using (organization_id = dak_tenant() or dak_is_worker());

create table endpoint (
  organization_id       uuid not null,
  id                    uuid not null,
  owner_user_id         uuid not null,
  url                   text not null,
  description           text not null default '',
  event_types           text[] not null default '{}', -- empty = all kinds
  mailbox_ids           uuid[] not null default '{}', -- empty = all that the owner sees
  ordering              text not null default 'none', -- none or conversation
  header_names          text[] not null default '{}',
  sealed_headers        bytea,                        -- AES-256-GCM of the JSON object; values are never shown
  enabled               boolean not null default true,
  status                text not null default 'active', -- active or disabled (by us)
  disabled_reason       text,                         -- gone, failing or owner_inactive
  disabled_at           timestamptz,
  rate_per_second       integer,                      -- null = the service's default, as the next two
  max_concurrency       integer,
  timeout_ms            integer,
  breaker_state         text not null default 'closed', -- closed, open or half_open
  breaker_opened_at     timestamptz,
  next_probe_at         timestamptz,
  breaker_trips         integer not null default 0,   -- in a row; each doubles the time to the probe
  last_success_at       timestamptz,
  -- Since the latest success: what auto-disabling is judged by.
  first_failure_at      timestamptz,
  first_failed_event_id text,
  last_failure_at       timestamptz,
  last_failed_event_id  text,
  version               integer not null default 1,   -- of what people set; the counters above leave it
  created_at            timestamptz not null,
  updated_at            timestamptz not null,
  primary key (organization_id, id)
);
-- Workers know endpoints by id alone.
create unique index endpoint_by_id on endpoint (id);
create index endpoint_by_owner on endpoint (organization_id, owner_user_id);
alter table endpoint enable row level security;
create policy tenant on endpoint using (organization_id = dak_tenant() or dak_is_worker());

-- Signing secrets, encrypted under a key derived from DAK_SECRET. The one without valid_until is the
-- current one of its scope; earlier ones sign too until then.
create table secret (
  organization_id uuid not null,
  id              uuid not null,
  endpoint_id     uuid,                              -- null = the organization's
  ciphertext      bytea not null,
  created_at      timestamptz not null,
  valid_until     timestamptz,
  primary key (organization_id, id),
  foreign key (organization_id, endpoint_id) references endpoint (organization_id, id) on delete cascade
);
create unique index secret_current on secret
  (organization_id, coalesce(endpoint_id, '00000000-0000-0000-0000-000000000000')) where valid_until is null;
create index secret_by_endpoint on secret (organization_id, endpoint_id);
alter table secret enable row level security;
create policy tenant on secret using (organization_id = dak_tenant() or dak_is_worker());

-- An event with at least one delivery. body holds the exact octets that every attempt signs.
create table message (
  organization_id uuid not null,
  event_id        text not null,
  type            text not null,
  mailbox_id      uuid,
  department_id   uuid,
  conversation_id uuid,
  sequence        bigint not null,
  body            bytea not null,
  occurred_at     timestamptz not null,
  created_at      timestamptz not null,
  primary key (organization_id, event_id)
);
create index message_by_age on message (created_at);
alter table message enable row level security;
create policy tenant on message using (organization_id = dak_tenant() or dak_is_worker());

-- One event for one endpoint. The id of an automatic one is computed from event and endpoint, that of
-- a replayed one from job, event and endpoint, so that doing it again makes no second row. Its first
-- 48 bits are a time, as in UUIDv7: the primary key is also the order of lists.
create table delivery (
  organization_id uuid not null,
  endpoint_id     uuid not null,
  id              uuid not null,
  event_id        text not null,
  event_type      text not null,
  trigger         text not null default 'automatic', -- automatic, replay, retry or test
  replay_id       uuid,
  -- pending, delivered, failed (final), skipped (ordering went on without it), canceled (endpoint disabled)
  state           text not null default 'pending',
  attempts        smallint not null default 0,
  next_at         timestamptz not null,
  order_key       text,                              -- of an ordered endpoint: the event's partition_key
  order_seq       bigint not null default 0,
  -- An earlier event of its conversation was skipped.
  gap             boolean not null default false,
  status_code     smallint,                          -- of the latest attempt, as the next one
  error_code      text,
  created_at      timestamptz not null,
  first_attempt_at timestamptz,
  finished_at     timestamptz,
  primary key (endpoint_id, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
-- The queue: rows leave it when they are final.
create index delivery_due on delivery (endpoint_id, next_at) where state = 'pending';
-- Who comes before whom in a conversation, and whether somebody was skipped.
create index delivery_order on delivery (endpoint_id, order_key, order_seq) where order_key is not null and (state = any (array['pending', 'skipped']) or gap);
create index delivery_by_event on delivery (organization_id, event_id);
create index delivery_unsuccessful on delivery (endpoint_id, id) where state = any (array['failed', 'skipped', 'canceled']);
create index delivery_finished on delivery (finished_at) where finished_at is not null;
alter table delivery enable row level security;
create policy tenant on delivery using (organization_id = dak_tenant() or dak_is_worker());

-- Append-only, one partition per day; retention drops whole days.
create table attempt (
  organization_id uuid not null,
  endpoint_id     uuid not null,
  delivery_id     uuid not null,
  number          smallint not null,
  at              timestamptz not null,
  duration_ms     integer not null,
  outcome         text not null,                     -- as classify-outcome says
  status_code     smallint,
  error_code      text,
  detail          text,
  response_start  text,                              -- first 1 000 characters
  primary key (endpoint_id, delivery_id, number, at)
) partition by range (at);
alter table attempt enable row level security;
create policy tenant on attempt using (organization_id = dak_tenant() or dak_is_worker());

-- Who sends for an endpoint. Results written under an epoch that has passed are discarded.
create table lane (
  endpoint_id uuid primary key,
  owner       text,
  epoch       bigint not null default 0,
  lease_until timestamptz not null default '-infinity'
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
create index lane_by_owner on lane (owner) where owner is not null;
alter table lane enable row level security;
create policy worker on lane using (dak_is_worker());

-- Sending again what a period brought: works through deliveries in the order of ids, so that position
-- says where to go on after a crash.
create table replay (
  organization_id uuid not null,
  id              uuid not null,
  endpoint_id     uuid not null,
  requested_by    uuid not null,
  since           timestamptz not null,
  until           timestamptz not null,
  event_types     text[] not null default '{}',
  only_failed     boolean not null default false,
  state           text not null default 'running',   -- running, done or canceled
  position        uuid not null default '00000000-0000-0000-0000-000000000000',
  examined        integer not null default 0,
  queued          integer not null default 0,
  total           integer not null,
  created_at      timestamptz not null,
  finished_at     timestamptz,
  primary key (organization_id, id),
  foreign key (organization_id, endpoint_id) references endpoint (organization_id, id) on delete cascade
);
create index replay_running on replay (created_at) where state = 'running';
create index replay_by_endpoint on replay (organization_id, endpoint_id);
alter table replay enable row level security;
create policy tenant on replay using (organization_id = dak_tenant() or dak_is_worker());

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

-- Makes the partitions of the coming days and drops those older than keep_days. Runs with the owner's
-- rights, because the runtime role owns nothing.
create function maintain_attempts(keep_days integer, ahead_days integer) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  today date := (now() at time zone 'UTC')::date;
  day   date;
  old   text;
begin
  perform pg_advisory_xact_lock(hashtext('dak:attempts'));
  for day in select generate_series(today - 1, today + ahead_days, interval '1 day')::date loop
    if to_regclass('public.attempt_' || to_char(day, 'YYYYMMDD')) is null then
      execute format(
        'create table public.attempt_%s partition of public.attempt for values from (%L) to (%L)',
        to_char(day, 'YYYYMMDD'), day || ' 00:00:00+00', (day + 1) || ' 00:00:00+00');
      -- Read through the table alone: the policies of that one do not hold for a partition by itself.
      execute format('alter table public.attempt_%s enable row level security', to_char(day, 'YYYYMMDD'));
    end if;
  end loop;
  for old in
    select child.relname
      from pg_inherits
      join pg_class child on child.oid = pg_inherits.inhrelid
     where pg_inherits.inhparent = 'public.attempt'::regclass
       and child.relname ~ '^attempt_[0-9]{8}$'
       and to_date(right(child.relname, 8), 'YYYYMMDD') < today - keep_days
  loop
    execute format('drop table public.%I', old);
  end loop;
end $$;

revoke all on function maintain_attempts(integer, integer) from public;
