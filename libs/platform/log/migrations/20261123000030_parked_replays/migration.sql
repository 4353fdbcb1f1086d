-- A replay that somebody asked for is carried out by a running member of the group: only there is the
-- handler. Set until the key flows again or the replay fails, whose reason then stands in replay_error.
alter table parked_key
  add column replay_asked_at timestamptz,
  add column replay_error    text;

-- What became of parked events by somebody's will; read by people.
create table parked_action (
  id         bigint generated always as identity primary key,
  at         timestamptz not null default now(),
  action     text        not null check (action in ('replayed', 'dropped')),
  group_name text        not null,
  topic      text        not null,
  key        text        not null,
  reason     text,
  event_ids  text[]      not null
);
