-- Whose a domain is: mail at its addresses is delivered to, and leaves for, its owner alone.
create table domain (
  organization_id uuid not null,
  id              uuid not null,
  name            text not null,                -- lower case, A-labels, without a dot at the end
  status          text not null,                -- pending or verified
  token           text not null,                -- what its TXT record has to say
  is_granted      boolean not null default false, -- verified by a superadmin, without DNS
  -- Several organizations had addresses in it before domains had owners; nobody has proved it yet.
  is_contested    boolean not null default false,
  record_status   text not null default 'missing',
  found_value     text,
  last_checked_at timestamptz,
  verified_at     timestamptz,
  version         integer not null default 1,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  primary key (organization_id, id)
);
create unique index domain_name on domain (organization_id, name);
-- One owner each, across organizations; a pending domain holds nothing.
create unique index domain_owner on domain (name) where status = 'verified';
create index domain_contested on domain (name) where is_contested;
alter table domain enable row level security;
create policy tenant on domain using (organization_id = dak_tenant());
create policy worker on domain for select using (dak_is_worker());

-- The owner of its domain decides about an address, so two organizations no longer meet there.
drop index mailbox_live_address;
create unique index mailbox_live_address on mailbox (organization_id, address) where deleted_at is null;
create index mailbox_by_address on mailbox (address) where deleted_at is null;
create index mailbox_deleted_address on mailbox (organization_id, address) where deleted_at is not null;

-- Events that belong to no conversation are numbered per organization.
alter table organization add column event_sequence bigint not null default 0;

-- A domain that one organization alone uses is granted to it; one that several use stays pending for each.
with used as (
       select split_part(address, '@', 2) as name, organization_id
         from mailbox
        where deleted_at is null
        group by 1, 2),
     shared as (
       select name, count(*) > 1 as is_contested
         from used
        group by name)
insert into domain (organization_id, id, name, status, token, is_granted, is_contested, verified_at, created_at, updated_at)
select u.organization_id, gen_random_uuid(), u.name,
       case when s.is_contested then 'pending' else 'verified' end,
       replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''),
       not s.is_contested, s.is_contested,
       case when s.is_contested then null else now() end, now(), now()
  from used u
  join shared s on s.name = u.name;

update mailbox m
   set domain_id = d.id
  from domain d
 where d.organization_id = m.organization_id
   and d.status = 'verified'
   and d.name = split_part(m.address, '@', 2);
