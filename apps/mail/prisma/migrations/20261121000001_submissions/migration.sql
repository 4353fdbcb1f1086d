-- A file on its way into a message. The token is all a client needs to know; the content is in the
-- blob store. Files that a draft names outlive expires_at.
create table upload (
  organization_id uuid not null,
  token           text not null,
  user_id         uuid not null,
  filename        text not null,
  content_type    text not null,
  size_bytes      bigint not null,
  sha256          text not null,
  disposition     text not null default 'attachment',
  content_id      text,
  scan_status     text not null default 'not_scanned',
  created_at      timestamptz not null,
  expires_at      timestamptz not null,
  primary key (organization_id, token)
);
create index upload_expiry on upload (expires_at);
alter table upload enable row level security;
create policy tenant on upload using (organization_id = dak_tenant() or dak_is_worker());

create table signature (
  organization_id uuid not null,
  id              uuid not null,
  name            text not null,
  body_html       text not null default '',
  body_text       text not null default '',
  mailbox_id      uuid,                -- null = for every mailbox of the organization
  is_default      boolean not null default false,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  primary key (organization_id, id),
  foreign key (organization_id, mailbox_id) references mailbox (organization_id, id) on delete cascade
);
create index signature_by_mailbox on signature (organization_id, mailbox_id);
-- One default per mailbox, one for the organization.
create unique index signature_default on signature
  (organization_id, coalesce(mailbox_id, '00000000-0000-0000-0000-000000000000')) where is_default;
alter table signature enable row level security;
create policy tenant on signature using (organization_id = dak_tenant());

create table draft (
  organization_id          uuid not null,
  id                       uuid not null,
  mailbox_id               uuid not null,
  conversation_id          uuid,
  kind                     text not null,      -- compose or reply
  reply_mode               text,
  to_recipients            text[] not null default '{}',
  cc_recipients            text[] not null default '{}',
  bcc_recipients           text[] not null default '{}',
  reply_to                 text[] not null default '{}',
  subject                  text,
  body_text                text,
  body_html                text,
  attachment_tokens        text[] not null default '{}',
  sets_signature           boolean not null default false,
  signature_id             uuid,
  signature_position       text,
  send_at                  timestamptz,
  send_window              jsonb,
  cancel_if_reply          boolean not null default false,
  undo_seconds             integer,
  quote_original           boolean not null default false,
  expected_last_message_id uuid,
  labels                   text[] not null default '{}',
  metadata                 jsonb not null default '{}',
  author_type              text not null,
  author_id                text,
  author_name              text not null default '',
  version                  integer not null default 1,
  created_at               timestamptz not null,
  updated_at               timestamptz not null,
  primary key (organization_id, id),
  foreign key (organization_id, mailbox_id) references mailbox on delete cascade,
  foreign key (organization_id, conversation_id) references conversation (organization_id, id)
);
create index draft_by_mailbox on draft (organization_id, mailbox_id, updated_at desc, id desc);
create index draft_by_conversation on draft (organization_id, conversation_id) where conversation_id is not null;
create index draft_by_upload on draft using gin (attachment_tokens);
alter table draft enable row level security;
create policy tenant on draft using (organization_id = dak_tenant() or dak_is_worker());

-- What a person or a program asked to be sent; id is that of the message.
create table submission (
  organization_id   uuid not null,
  id                uuid not null,
  conversation_id   uuid not null,
  mailbox_id        uuid not null,
  kind              text not null,             -- compose, reply or forward
  subject           text not null,
  status            text not null,             -- summary of the deliveries, as the message shows it
  hold_reason       text,                      -- scheduled, undo, approval or quota
  hold_until        timestamptz,
  send_at           timestamptz,
  undo_until        timestamptz,
  cancel_if_reply   boolean not null default false,
  is_automatic      boolean not null default false,
  at_most_once      boolean not null default false,
  mail_from         text not null,
  message_id_header text not null,
  raw_sha256        text not null,
  size_bytes        bigint not null,
  author_type       text not null,
  author_id         text,
  author_name       text not null default '',
  author_run_id     text,
  -- The request, so that undoing gives the draft back; null once nothing can be undone.
  content           jsonb,
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  finished_at       timestamptz,
  primary key (organization_id, id),
  foreign key (organization_id, id) references message (organization_id, id) on delete cascade
) with (fillfactor = 80);
create index submission_unfinished on submission (organization_id, mailbox_id, id desc) where finished_at is null;
create index submission_by_mailbox on submission (organization_id, mailbox_id, id desc);
alter table submission enable row level security;
create policy tenant on submission using (organization_id = dak_tenant());
create policy worker on submission for select using (dak_is_worker());

-- One row per recipient. `phase` and `lease_epoch` are what a crash is judged by: see
-- apps/mail/src/deliveries/README.md.
create table delivery (
  organization_id uuid not null,
  id              uuid not null,
  submission_id   uuid not null,
  position        smallint not null,
  role            text not null,               -- to, cc or bcc
  recipient       text not null,
  -- held, scheduled, queued, sending, sent, deferred, bounced, failed, suppressed, uncertain, canceled
  state           text not null,
  priority        smallint not null default 0, -- 0 people, 1 programs, 2 automatic mail
  attempts        integer not null default 0,
  next_attempt_at timestamptz,
  lease_owner     text,
  lease_until     timestamptz,
  lease_epoch     integer not null default 0,
  phase           text,
  -- Once true a second try has been spent on an unknown outcome; there is no third.
  was_uncertain   boolean not null default false,
  transport       text,
  smtp_code       integer,
  enhanced        text,
  diagnostic      text,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  primary key (organization_id, id),
  foreign key (organization_id, submission_id) references submission on delete cascade
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create index delivery_by_submission on delivery (organization_id, submission_id, position);
create index delivery_due on delivery (organization_id, priority, next_attempt_at)
  where state in ('held', 'scheduled', 'queued', 'deferred', 'uncertain');
create index delivery_leased on delivery (lease_until) where state = 'sending';
alter table delivery enable row level security;
create policy tenant on delivery using (organization_id = dak_tenant() or dak_is_worker());

create table delivery_attempt (
  organization_id uuid not null,
  delivery_id     uuid not null,
  attempt         integer not null,
  started_at      timestamptz not null,
  finished_at     timestamptz not null,
  transport       text not null,
  phase           text,
  outcome         text not null,               -- accepted, deferred, rejected, ambiguous or lost
  smtp_code       integer,
  enhanced        text,
  diagnostic      text,
  primary key (organization_id, delivery_id, attempt)
);
alter table delivery_attempt enable row level security;
create policy tenant on delivery_attempt using (organization_id = dak_tenant() or dak_is_worker());
