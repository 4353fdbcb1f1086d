-- What the gateway has told us about people: rules act for somebody, as they are now.
create table person (
  organization_id uuid not null,
  user_id         uuid not null,
  role            text not null,               -- user, admin or superadmin
  active          boolean not null,
  department_ids  uuid[] not null default '{}',
  version         bigint not null,             -- grows; an older announcement changes nothing
  updated_at      timestamptz not null,
  primary key (organization_id, user_id)
);
alter table person enable row level security;
create policy tenant on person using (organization_id = dak_tenant());
