create table entry (
  organization_id uuid        not null,
  id              uuid        not null,
  title           text        not null,
  amount          bigint      not null,
  created_at      timestamptz not null,
  primary key (organization_id, id)
);
alter table entry enable row level security;
create policy tenant on entry using (organization_id = dak_tenant());
create policy worker on entry using (dak_is_worker());
