-- A template is its newest version; earlier ones stay, as mail names the version it was made of.
create table template (
  organization_id uuid not null,
  id              uuid not null,
  alias           text,
  version         integer not null default 1,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  deleted_at      timestamptz,
  primary key (organization_id, id)
);
create unique index template_alias on template (organization_id, alias) where alias is not null and deleted_at is null;
alter table template enable row level security;
create policy tenant on template using (organization_id = dak_tenant());

create table template_version (
  organization_id uuid not null,
  template_id     uuid not null,
  version         integer not null,
  name            text not null,
  alias           text,
  subject         text not null default '',
  body_text       text,
  body_html       text,                -- sanitized, style sheet inlined
  variables       jsonb not null default '[]',
  author_type     text not null,
  author_id       text,
  author_name     text not null default '',
  created_at      timestamptz not null,
  primary key (organization_id, template_id, version),
  foreign key (organization_id, template_id) references template (organization_id, id) on delete cascade
);
alter table template_version enable row level security;
create policy tenant on template_version using (organization_id = dak_tenant());

-- What a draft will be made of, and what a submission was made of.
alter table draft add column template_id uuid, add column template_variables jsonb;
alter table submission add column template_id uuid, add column template_version integer;
