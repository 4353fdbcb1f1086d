create function dak_tenant() returns uuid language sql stable
  as $$ select nullif(current_setting('dak.organization_id', true), '')::uuid $$;
create table thing (organization_id uuid not null, id int not null, name text, at timestamptz, size bigint, primary key (organization_id, id));
alter table thing enable row level security;
create policy tenant on thing using (organization_id = dak_tenant());
