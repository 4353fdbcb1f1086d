-- The read model of analytics (docs/decisions/0013). Everything in it follows from analytics_journal.
-- The policies ask for the tenant once per statement (select …), not once per row: statements over these
-- tables read many rows, and took three times as long.

-- One per organization. Whoever adds to the journal or to the model holds its row lock, so that
-- `position` is the order in which the events of an organization were taken in.
create table analytics_model (
  organization_id uuid primary key,
  -- Rows of the tables below with this generation are the model; others are being built or removed.
  generation      integer not null default 1,
  -- Time of the latest event in the model.
  as_of           timestamptz,
  -- Position of the last journal entry in the model.
  position        bigint not null default 0
);
alter table analytics_model enable row level security;
create policy tenant on analytics_model using (organization_id = (select dak_tenant()) or (select dak_is_worker()));

-- What counts of every event, without addresses, subjects and texts; append-only and kept for good,
-- for the log forgets after days.
create table analytics_journal (
  organization_id uuid not null,
  event_id        uuid not null,
  position        bigint generated always as identity,
  occurred_at     timestamptz not null,
  kind            text not null,
  mailbox_id      uuid,
  department_id   uuid,
  conversation_id uuid,
  message_id      uuid,
  actor_type      text not null,
  actor_id        text not null default '',
  actor_name      text not null default '',
  facts           jsonb not null,
  primary key (organization_id, event_id)
);
create unique index analytics_journal_by_position on analytics_journal (organization_id, position);
alter table analytics_journal enable row level security;
create policy tenant on analytics_journal using (organization_id = (select dak_tenant()) or (select dak_is_worker()));

-- A conversation as the events so far have left it.
create table analytics_conversation (
  organization_id   uuid not null,
  generation        integer not null,
  conversation_id   uuid not null,
  mailbox_id        uuid not null,
  department_id     uuid,
  assignee_type     text,
  assignee_id       text,
  status            text not null,
  disposition       text not null,
  merged_into_id    uuid,
  in_backlog        boolean not null,
  -- Since when it is unresolved; null when it is not, or when its beginning is not known.
  unresolved_since  timestamptz,
  -- The first message of a person that nobody has answered yet.
  awaiting_since    timestamptz,
  is_answered       boolean not null,
  primary key (organization_id, generation, conversation_id)
) with (fillfactor = 80);
create index analytics_conversation_backlog on analytics_conversation (organization_id, generation) where in_backlog;
create index analytics_conversation_by_department on analytics_conversation (organization_id, generation, department_id)
  where department_id is not null;
create index analytics_conversation_merged on analytics_conversation (organization_id, generation, merged_into_id)
  where merged_into_id is not null;
alter table analytics_conversation enable row level security;
create policy tenant on analytics_conversation using (organization_id = (select dak_tenant()) or (select dak_is_worker()));

-- One countable thing each, with the department and the assignee of its time.
create table analytics_fact (
  organization_id uuid not null,
  generation      integer not null,
  -- Of the journal entry it comes from, and its place among the facts of the entry.
  position        bigint not null,
  ordinal         smallint not null,
  measure         text not null,
  at              timestamptz not null,
  mailbox_id      uuid,
  department_id   uuid,
  conversation_id uuid,
  message_id      uuid,
  assignee_type   text,
  assignee_id     text,
  actor_type      text,
  actor_id        text,
  -- 1, and for `backlog` also -1.
  amount          smallint not null,
  -- Of the measures that last.
  milliseconds    bigint,
  -- A verdict, an outcome, a kind.
  detail          text,
  primary key (organization_id, generation, position, ordinal)
);
create index analytics_fact_by_time on analytics_fact (organization_id, generation, at);
create index analytics_fact_lasting on analytics_fact (organization_id, generation, at) where milliseconds is not null;
create index analytics_fact_backlog on analytics_fact (organization_id, generation, at) where measure = 'backlog';
alter table analytics_fact enable row level security;
create policy tenant on analytics_fact using (organization_id = (select dak_tenant()) or (select dak_is_worker()));

-- The latest name of everybody who was assigned or did something.
create table analytics_person (
  organization_id uuid not null,
  generation      integer not null,
  type            text not null,
  id              text not null,
  name            text not null,
  primary key (organization_id, generation, type, id)
);
alter table analytics_person enable row level security;
create policy tenant on analytics_person using (organization_id = (select dak_tenant()) or (select dak_is_worker()));
