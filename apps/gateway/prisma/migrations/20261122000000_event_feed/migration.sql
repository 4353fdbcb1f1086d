-- Events of the last days as people see them, numbered per organization without gaps. Whoever numbers
-- holds the row of the organization's head, so that a reader who sees a position sees all before it.
create table event_feed_head (
  organization_id uuid   primary key,
  position        bigint not null default 0
);
alter table event_feed_head enable row level security;
create policy tenant on event_feed_head using (organization_id = dak_tenant() or dak_is_worker());

create table event_feed (
  organization_id uuid        not null,
  position        bigint      not null,
  event_id        text        not null,
  type            text        not null,
  mailbox_id      uuid,
  department_id   uuid,
  conversation_id uuid,
  body            text        not null,   -- JSON
  recorded_at     timestamptz not null default clock_timestamp(),
  primary key (organization_id, position)
);
create unique index event_feed_event_key on event_feed (organization_id, event_id);
create index event_feed_age_idx on event_feed (recorded_at);
alter table event_feed enable row level security;
create policy tenant on event_feed using (organization_id = dak_tenant() or dak_is_worker());
