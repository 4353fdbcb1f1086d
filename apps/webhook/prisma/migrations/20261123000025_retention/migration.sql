-- Organizations that were erased: what is told of them late is not stored again.
create table erased_organization (
  id        uuid primary key,
  erased_at timestamptz not null default now()
);
alter table erased_organization enable row level security;
create policy known on erased_organization using (id = dak_tenant() or dak_is_worker());
