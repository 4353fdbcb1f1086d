create table rule (
  organization_id      uuid not null,
  id                   uuid not null,
  name                 text not null,
  kind                 text not null,          -- routing, forwarding, labeling, department or automation
  enabled              boolean not null default true,
  priority             integer not null default 0,
  mailbox_ids          uuid[] not null default '{}', -- empty = all
  match                text not null default 'all',
  conditions           jsonb not null default '[]',
  actions              jsonb not null,
  stop                 boolean not null default false,
  version              integer not null default 1,
  -- On whose behalf it acts, with their role and departments when they last saved it.
  owner_id             uuid not null,
  owner_name           text not null default '',
  owner_role           text not null,
  owner_department_ids uuid[] not null default '{}',
  created_at           timestamptz not null,
  updated_at           timestamptz not null,
  primary key (organization_id, id)
);
alter table rule enable row level security;
create policy tenant on rule using (organization_id = dak_tenant());

-- Counts every change of an organization's rules; whoever keeps rules in memory asks for it first.
create table rule_set (
  organization_id uuid primary key,
  version         bigint not null default 0
);
alter table rule_set enable row level security;
create policy tenant on rule_set using (organization_id = dak_tenant());

create table rule_version (
  organization_id uuid not null,
  rule_id         uuid not null,
  version         integer not null,
  definition      jsonb not null,
  changed_by      uuid not null,
  changed_by_name text not null default '',
  changed_at      timestamptz not null,
  primary key (organization_id, rule_id, version),
  foreign key (organization_id, rule_id) references rule on delete cascade
);
alter table rule_version enable row level security;
create policy tenant on rule_version using (organization_id = dak_tenant());

-- Spread over slots, so that concurrent runs do not wait for each other.
create table rule_tally (
  organization_id uuid not null,
  rule_id         uuid not null,
  slot            smallint not null,
  evaluated       bigint not null,
  matched         bigint not null,
  last_matched_at timestamptz,
  primary key (organization_id, rule_id, slot)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
alter table rule_tally enable row level security;
create policy tenant on rule_tally using (organization_id = dak_tenant());

-- What a rule did with a message, or why it did nothing. Without references: it outlives the rule.
create table rule_run (
  organization_id uuid not null,
  id              uuid not null,
  rule_id         uuid not null,
  rule_name       text not null,
  rule_version    integer not null,
  mailbox_id      uuid not null,
  conversation_id uuid not null,
  message_id      uuid not null,
  event_id        text not null,
  matched         boolean not null,
  conditions      jsonb not null,
  actions         jsonb not null default '[]',
  at              timestamptz not null,
  trace_id        text,
  primary key (organization_id, id)
);
create index rule_run_by_rule on rule_run (organization_id, rule_id, id desc);
create index rule_run_by_conversation on rule_run (organization_id, conversation_id, id desc);
create index rule_run_age on rule_run (matched, at);
alter table rule_run enable row level security;
create policy tenant on rule_run using (organization_id = dak_tenant() or dak_is_worker());

-- Whom a rule has answered, so that nobody is answered again and again (RFC 3834 §2, RFC 5230 §4.2).
create table rule_reply (
  organization_id uuid not null,
  rule_id         uuid not null,
  sender          text not null,               -- address in lower case
  conversation_id uuid not null,
  sent_at         timestamptz not null,
  primary key (organization_id, rule_id, sender, conversation_id)
);
create index rule_reply_age on rule_reply (sent_at);
alter table rule_reply enable row level security;
create policy tenant on rule_reply using (organization_id = dak_tenant() or dak_is_worker());

-- The first mail of every sender in a mailbox.
create table sender_contact (
  organization_id  uuid not null,
  mailbox_id       uuid not null,
  sender           text not null,              -- address in lower case
  first_message_id uuid not null,
  primary key (organization_id, mailbox_id, sender),
  foreign key (organization_id, mailbox_id) references mailbox on delete cascade
);
alter table sender_contact enable row level security;
create policy tenant on sender_contact using (organization_id = dak_tenant());
insert into sender_contact (organization_id, mailbox_id, sender, first_message_id)
select distinct on (m.organization_id, m.mailbox_id, lower(left(m.from_address ->> 'email', 320)))
       m.organization_id, m.mailbox_id, lower(left(m.from_address ->> 'email', 320)), m.id
  from message m
 where m.direction = 'inbound' and m.from_address is not null
 order by m.organization_id, m.mailbox_id, lower(left(m.from_address ->> 'email', 320)), m.received_at, m.id;

create table rule_dry_run (
  organization_id uuid not null,
  id              uuid not null,
  rule_id         uuid,
  definition      jsonb not null,
  -- Whoever asked, with what they may see.
  user_id         uuid not null,
  user_role       text not null,
  department_ids  uuid[] not null default '{}',
  from_at         timestamptz not null,
  to_at           timestamptz not null,
  status          text not null default 'running',
  total           bigint,
  examined        bigint not null default 0,
  matched         bigint not null default 0,
  conversations   bigint not null default 0,
  condition_hits  jsonb not null default '[]',
  samples         jsonb not null default '[]',
  -- The message that was examined last.
  position        uuid,
  lease_owner     uuid,
  lease_until     timestamptz,
  attempts        integer not null default 0,
  error           text,
  created_at      timestamptz not null,
  finished_at     timestamptz,
  primary key (organization_id, id)
);
create index rule_dry_run_waiting on rule_dry_run (created_at) where status = 'running';
create index rule_dry_run_age on rule_dry_run (finished_at) where finished_at is not null;
alter table rule_dry_run enable row level security;
create policy tenant on rule_dry_run using (organization_id = dak_tenant() or dak_is_worker());

create table rule_dry_run_hit (
  organization_id uuid not null,
  dry_run_id      uuid not null,
  conversation_id uuid not null,
  primary key (organization_id, dry_run_id, conversation_id),
  foreign key (organization_id, dry_run_id) references rule_dry_run on delete cascade
);
alter table rule_dry_run_hit enable row level security;
create policy tenant on rule_dry_run_hit using (organization_id = dak_tenant());
