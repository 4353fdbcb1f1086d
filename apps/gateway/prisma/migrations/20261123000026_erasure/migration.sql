-- Organizations that are being erased or were. A row stays after that; it names nobody.
create table erasure (
  -- The organization's.
  id                    uuid primary key,
  requested_at          timestamptz not null default now(),
  -- Whose audit log tells of it, and who asked.
  requester_id          uuid not null,
  requester_name        text not null,
  requester_organization uuid not null,
  request_id            text not null,
  rows_removed          bigint not null default 0,
  blobs_removed         bigint not null default 0,
  bytes_removed         bigint not null default 0,
  finished_at           timestamptz
);
create index erasure_running on erasure (requested_at) where finished_at is null;
alter table erasure enable row level security;
create policy worker on erasure using (dak_is_worker());
create policy known on erasure for select using (id = dak_tenant());

-- The chain of an organization goes with it, and only then.
create or replace function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and tg_level = 'ROW' then
    if exists (select from erasure e where e.id = old.organization_id and e.finished_at is null) then
      return old;
    end if;
  end if;
  raise exception 'the audit log is append-only' using errcode = 'insufficient_privilege';
end
$$;
