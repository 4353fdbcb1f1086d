-- Every tenant table has organization_id first in its keys and row-level security on the tenant of
-- the transaction. Workers look across tenants: credential look-up (the tenant is not known yet),
-- platform administration and upkeep.
create function dak_tenant() returns uuid language sql stable as $$
  select nullif(current_setting('dak.organization_id', true), '')::uuid
$$;
create function dak_is_worker() returns boolean language sql stable as $$
  select coalesce(current_setting('dak.worker', true), '') = 'on'
$$;

create table organization (
  id                uuid        primary key,
  name              text        not null,
  status            text        not null default 'active',
  time_zone         text        not null default 'UTC',
  default_from_name text,
  retention_days    integer,
  version           integer     not null default 1,
  -- The version that the services were last told; behind it = to be told again.
  announced_version integer     not null default 0,
  created_at        timestamptz not null default now(),
  updated_at        timestamptz not null default now(),
  constraint organization_status_known check (status in ('active', 'suspended')),
  constraint organization_retention_positive check (retention_days > 0)
);
create index organization_to_announce on organization (id) where announced_version <> version;

create table user_account (
  organization_id uuid        not null references organization (id),
  id              uuid        not null,
  email           text        not null,
  display_name    text        not null,
  role            text        not null,
  active          boolean     not null default true,
  password_hash   text,
  last_login_at   timestamptz,
  version         integer     not null default 1,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  primary key (organization_id, id),
  constraint user_account_role_known check (role in ('user', 'admin', 'superadmin')),
  constraint user_account_email_lower check (email = lower(email))
);
create unique index user_account_email_key on user_account (email);
create unique index user_account_id_key on user_account (id);

create table department (
  organization_id uuid        not null references organization (id),
  id              uuid        not null,
  name            text        not null,
  description     text        not null default '',
  version         integer     not null default 1,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  primary key (organization_id, id)
);
create unique index department_name_key on department (organization_id, lower(name));

create table department_member (
  organization_id uuid not null,
  department_id   uuid not null,
  user_id         uuid not null,
  primary key (organization_id, department_id, user_id),
  foreign key (organization_id, department_id) references department (organization_id, id) on delete cascade,
  foreign key (organization_id, user_id) references user_account (organization_id, id) on delete cascade
);
create index department_member_user_idx on department_member (organization_id, user_id);

create table api_key (
  organization_id uuid        not null,
  id              uuid        not null,
  user_id         uuid        not null,
  name            text        not null,
  scopes          text[]      not null,
  secret_hash     bytea       not null,
  prefix          text        not null,
  expires_at      timestamptz,
  created_at      timestamptz not null default now(),
  last_used_at    timestamptz,
  revoked_at      timestamptz,
  primary key (organization_id, id),
  foreign key (organization_id, user_id) references user_account (organization_id, id)
);
create unique index api_key_secret_hash_key on api_key (secret_hash);
create index api_key_user_idx on api_key (organization_id, user_id);

-- A session is the family of refresh tokens that one login began.
create table session (
  organization_id uuid        not null,
  id              uuid        not null,
  user_id         uuid        not null,
  created_at      timestamptz not null default now(),
  expires_at      timestamptz not null,
  revoked_at      timestamptz,
  revoked_reason  text,
  primary key (organization_id, id),
  foreign key (organization_id, user_id) references user_account (organization_id, id) on delete cascade
);
create unique index session_id_key on session (id);
create index session_user_idx on session (organization_id, user_id);
create index session_expiry_idx on session (expires_at);

create table refresh_token (
  organization_id uuid        not null,
  session_id      uuid        not null,
  token_hash      bytea       not null,
  created_at      timestamptz not null default now(),
  used_at         timestamptz,
  primary key (organization_id, session_id, token_hash),
  foreign key (organization_id, session_id) references session (organization_id, id) on delete cascade
);
create unique index refresh_token_hash_key on refresh_token (token_hash);

create table invite (
  organization_id uuid        not null,
  id              uuid        not null,
  user_id         uuid        not null,
  token_hash      bytea       not null,
  created_at      timestamptz not null default now(),
  expires_at      timestamptz not null,
  used_at         timestamptz,
  primary key (organization_id, id),
  foreign key (organization_id, user_id) references user_account (organization_id, id) on delete cascade
);
create unique index invite_token_hash_key on invite (token_hash);
create index invite_user_idx on invite (organization_id, user_id);

-- Append-only, hash-chained per organization. The head is also the lock under which the chain grows,
-- and tells when entries were cut off its end.
create table audit_head (
  organization_id uuid   primary key references organization (id),
  entries         bigint not null default 0,
  hash            text   not null default repeat('0', 64)
);

create table audit_entry (
  organization_id uuid        not null references organization (id),
  sequence        bigint      not null,
  id              uuid        not null,
  at              timestamptz not null,
  actor_type      text        not null,
  actor_id        text,
  actor_name      text        not null,
  action          text        not null,
  target_type     text        not null,
  target_id       text,
  outcome         text        not null,
  request_id      text        not null,
  details         jsonb       not null default '{}',
  previous_hash   text        not null,
  hash            text        not null,
  primary key (organization_id, sequence),
  constraint audit_entry_outcome_known check (outcome in ('attempted', 'succeeded', 'refused', 'failed'))
);
create unique index audit_entry_id_key on audit_entry (organization_id, id);
create index audit_entry_action_idx on audit_entry (organization_id, action, sequence);
create index audit_entry_target_idx on audit_entry (organization_id, target_id, sequence);
create index audit_entry_actor_idx on audit_entry (organization_id, actor_id, sequence);
create index audit_entry_at_idx on audit_entry (organization_id, at);

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
end
$$;
create trigger audit_entry_append_only before update or delete on audit_entry
  for each row execute function refuse_audit_change();
create trigger audit_entry_no_truncate before truncate on audit_entry
  for each statement execute function refuse_audit_change();

-- Answers of POSTs whose effect is in this database, written in the transaction of the effect.
create table idempotency_record (
  organization_id uuid        not null references organization (id),
  credential_id   uuid        not null,
  route           text        not null,
  key_hash        bytea       not null,
  request_hash    text        not null,
  status          integer     not null,
  -- Encrypted under a key made from the Idempotency-Key itself: some answers hold a secret shown once.
  answer          bytea       not null,
  expires_at      timestamptz not null,
  primary key (organization_id, credential_id, route, key_hash)
);
create index idempotency_record_expiry_idx on idempotency_record (expires_at);

alter table organization       enable row level security;
alter table user_account       enable row level security;
alter table department         enable row level security;
alter table department_member  enable row level security;
alter table api_key            enable row level security;
alter table session            enable row level security;
alter table refresh_token      enable row level security;
alter table invite             enable row level security;
alter table audit_head         enable row level security;
alter table audit_entry        enable row level security;
alter table idempotency_record enable row level security;

create policy tenant on organization       using (id = dak_tenant() or dak_is_worker());
create policy tenant on user_account       using (organization_id = dak_tenant() or dak_is_worker());
create policy tenant on department         using (organization_id = dak_tenant());
create policy tenant on department_member  using (organization_id = dak_tenant() or dak_is_worker());
create policy tenant on api_key            using (organization_id = dak_tenant() or dak_is_worker());
create policy tenant on session            using (organization_id = dak_tenant() or dak_is_worker());
create policy tenant on refresh_token      using (organization_id = dak_tenant() or dak_is_worker());
create policy tenant on invite             using (organization_id = dak_tenant() or dak_is_worker());
create policy tenant on audit_head         using (organization_id = dak_tenant());
create policy tenant on audit_entry        using (organization_id = dak_tenant());
create policy tenant on idempotency_record using (organization_id = dak_tenant() or dak_is_worker());
