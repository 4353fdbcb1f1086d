-- What retention looks at first: the oldest mail of an organization.
create index message_by_arrival on message (organization_id, (coalesce(received_at, created_at)), id);
create index conversation_merged on conversation (organization_id, merged_into_id) where merged_into_id is not null;

-- Mail that retention has removed and others still have to forget; only ids.
create table removed_mail (
  organization_id uuid not null,
  id              uuid not null,
  conversation_id uuid not null,
  -- Null when the whole conversation was removed.
  message_id      uuid,
  removed_at      timestamptz not null,
  primary key (organization_id, id)
);
alter table removed_mail enable row level security;
create policy tenant on removed_mail using (organization_id = dak_tenant());

-- Content whose last reference may be gone.
create table blob_candidate (
  organization_id uuid not null,
  sha256          text not null,
  primary key (organization_id, sha256)
);
alter table blob_candidate enable row level security;
create policy tenant on blob_candidate using (organization_id = dak_tenant() or dak_is_worker());

-- Organizations that were erased: what is told of them late is not stored again.
create table erased_organization (
  id        uuid primary key,
  erased_at timestamptz not null default now()
);
alter table erased_organization enable row level security;
create policy known on erased_organization using (id = dak_tenant() or dak_is_worker());
