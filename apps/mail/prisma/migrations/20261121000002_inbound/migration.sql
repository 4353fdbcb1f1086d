-- Mail that was accepted and is not yet a message: the 250 of SMTP rests on a row of this table. A
-- row is claimed by moving next_attempt_at past the lease, and leaves in the transaction that stores
-- its message.
create table inbound_spool (
  organization_id uuid not null,
  id              uuid not null,
  mailbox_id      uuid not null,
  source          text not null,               -- smtp, lmtp, local or import
  priority        smallint not null default 0, -- 0 live mail, 1 import
  queue_id        text,
  mail_from       text not null default '',
  recipient       text not null,
  client_address  text,
  helo            text,
  protocol        text,
  tls             jsonb,
  -- One of the two: the bytes themselves while small, else their place in the blob store.
  raw             bytea,
  raw_sha256      text,
  size_bytes      bigint not null,
  -- What an import knows besides the bytes.
  import_id       uuid,
  import_index    integer,
  unread          boolean not null default true,
  labels          text[] not null default '{}',
  attempts        integer not null default 0,
  next_attempt_at timestamptz not null,
  lease_owner     text,                        -- the process that claimed it
  last_error      text,
  received_at     timestamptz not null,
  primary key (organization_id, id)
);
create index inbound_spool_due on inbound_spool (priority, next_attempt_at);
create index inbound_spool_by_import on inbound_spool (organization_id, import_id) where import_id is not null;
-- Compressing costs more than it saves in a table whose rows live for a second; and what lies out
-- of line is not copied when a claim updates its row.
alter table inbound_spool alter column raw set storage external;
alter table inbound_spool enable row level security;
create policy tenant on inbound_spool using (organization_id = dak_tenant() or dak_is_worker());

-- The conversation that owns a threading identifier: every msg-id that some message refers to, every
-- Outlook thread index. A merged conversation is followed to where it went when a row is read.
create table conversation_ref (
  organization_id uuid not null,
  mailbox_id      uuid not null,
  ref_hash        bytea not null,
  conversation_id uuid not null,
  primary key (organization_id, mailbox_id, ref_hash)
);
alter table conversation_ref enable row level security;
create policy tenant on conversation_ref using (organization_id = dak_tenant());

-- What the fallbacks of threading compare: who, when, and which words.
create table thread_evidence (
  organization_id uuid not null,
  message_id      uuid not null,
  mailbox_id      uuid not null,
  subject         text not null,               -- base subject without case
  subject_hash    bytea not null,
  -- What the subject says it was before.
  former_subject  text,
  former_subject_hash bytea,
  is_reply        boolean not null,
  series          text,
  series_hash     bytea,
  thread_index    text,
  dated_at        timestamptz not null,
  -- Breaks ties the same way whatever arrived first.
  content_hash    text not null,
  -- It names no other message, and hangs on the best of those it may answer.
  is_orphan       boolean not null,
  parent_id       uuid,
  parent_score    integer not null default 0,
  author          integer not null,
  author_names    integer[] not null,
  correspondents  integer[] not null,
  mentioned       integer[] not null,
  own_words       integer[] not null,
  quoted_words    integer[] not null,
  primary key (organization_id, message_id),
  foreign key (organization_id, message_id) references message on delete cascade
);
create index thread_evidence_by_subject on thread_evidence (organization_id, mailbox_id, subject_hash, dated_at);
create index thread_evidence_by_former_subject on thread_evidence (organization_id, mailbox_id, former_subject_hash)
  where former_subject_hash is not null;
create index thread_evidence_by_series on thread_evidence (organization_id, mailbox_id, series_hash)
  where series_hash is not null;
alter table thread_evidence enable row level security;
create policy tenant on thread_evidence using (organization_id = dak_tenant());

create table import_job (
  organization_id uuid not null,
  id              uuid not null,
  mailbox_id      uuid not null,
  content_type    text not null,
  status          text not null,               -- running, done or failed
  -- Messages found in the stream so far; all of them once received_all.
  received        integer not null default 0,
  received_all    boolean not null default false,
  stored          integer not null default 0,
  duplicates      integer not null default 0,
  failed          jsonb not null default '[]', -- [{index, reason}], the first thousand
  failed_count    integer not null default 0,
  created_by      uuid not null,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  finished_at     timestamptz,
  primary key (organization_id, id),
  foreign key (organization_id, mailbox_id) references mailbox on delete cascade
);
create index import_job_running on import_job (organization_id, updated_at) where status = 'running';
alter table import_job enable row level security;
create policy tenant on import_job using (organization_id = dak_tenant() or dak_is_worker());

-- Every domain that receives mail answers for postmaster (RFC 5321 §4.5.1).
create index mailbox_live_domain on mailbox (split_part(address, '@', 2), created_at) where deleted_at is null;
create index conversation_continuation on conversation (organization_id, linked_conversation_id)
  where linked_conversation_id is not null;
