-- Row-level security: every policy compares the transaction-local setting that
-- @dak/platform/postgres makes; without it no tenant row is visible.
create function dak_tenant() returns uuid
  language sql stable parallel safe
  as $$ select nullif(current_setting('dak.organization_id', true), '')::uuid $$;

-- Background workers look across tenants.
create function dak_is_worker() returns boolean
  language sql stable parallel safe
  as $$ select coalesce(current_setting('dak.worker', true) = 'on', false) $$;

-- What the gateway has announced about organizations and their people; an older version changes nothing.
create table organization (
  organization_id uuid primary key,
  name            text not null,
  status          text not null default 'active',   -- active or suspended
  version         bigint not null default 0,
  updated_at      timestamptz not null
);
alter table organization enable row level security;
create policy tenant on organization using (organization_id = dak_tenant() or dak_is_worker());

create table person (
  organization_id uuid not null,
  user_id         uuid not null,
  role            text not null,                     -- user, admin or superadmin
  active          boolean not null,
  department_ids  uuid[] not null default '{}',
  version         bigint not null,
  updated_at      timestamptz not null,
  primary key (organization_id, user_id)
);
alter table person enable row level security;
create policy tenant on person using (organization_id = dak_tenant() or dak_is_worker());

-- Organizations that were erased: what is announced of them late is not stored again.
create table erased_organization (
  id        uuid primary key,
  erased_at timestamptz not null default now()
);
alter table erased_organization enable row level security;
create policy known on erased_organization using (id = dak_tenant() or dak_is_worker());
