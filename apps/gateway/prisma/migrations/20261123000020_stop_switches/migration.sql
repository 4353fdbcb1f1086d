-- What stops mail and webhooks on their way out: of one organization, and of the whole deployment. The
-- services are told under a version, as of organizations.
alter table organization
  add column outgoing text not null default 'run',
  add constraint organization_outgoing_known check (outgoing in ('run', 'hold'));

create table operations (
  id                boolean     primary key default true,
  outgoing          text        not null default 'run',
  webhooks          text        not null default 'run',
  version           integer     not null default 1,
  -- The version that the services were last told. They begin with the same state as this table.
  announced_version integer     not null default 1,
  updated_at        timestamptz not null default now(),
  constraint operations_one_row check (id),
  constraint operations_outgoing_known check (outgoing in ('run', 'hold')),
  constraint operations_webhooks_known check (webhooks in ('run', 'hold'))
);
alter table operations enable row level security;
create policy worker on operations using (dak_is_worker());
insert into operations default values;
