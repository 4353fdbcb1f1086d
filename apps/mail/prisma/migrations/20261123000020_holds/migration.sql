-- Outgoing mail can be held: of the whole deployment, of an organization, of a mailbox that is disabled.
-- released_at is when the latest hold ended; giving up on mail is counted from there.
create table operations (
  id          boolean     primary key default true check (id),
  outgoing    text        not null default 'run',
  version     bigint      not null default 0,
  released_at timestamptz,
  updated_at  timestamptz not null default now()
);
alter table operations enable row level security;
create policy worker on operations using (dak_is_worker());
insert into operations default values;

alter table organization
  add column outgoing    text not null default 'run',
  add column released_at timestamptz;
alter table mailbox
  add column released_at timestamptz;

-- A delivery of a disabled mailbox is put aside until then, under the mailbox's id; it no longer is when
-- something else has changed next_attempt_at.
alter table delivery
  add column parked_until      timestamptz,
  add column parked_mailbox_id uuid;
create index delivery_parked on delivery (organization_id, parked_mailbox_id) where parked_mailbox_id is not null;

-- Triggers, so that no writer can forget.
create function note_release() returns trigger language plpgsql as $$
begin
  new.released_at := now();
  return new;
end
$$;
create trigger operations_release before update on operations
  for each row when (old.outgoing = 'hold' and new.outgoing <> 'hold')
  execute function note_release();
create trigger organization_release before update on organization
  for each row when ((old.outgoing = 'hold' or old.status <> 'active')
                     and new.outgoing <> 'hold' and new.status = 'active')
  execute function note_release();
create trigger mailbox_release before update on mailbox
  for each row when (old.status <> 'active' and new.status = 'active')
  execute function note_release();

-- Whoever shows mail that waits says why; nothing else of the deployment is shown to a tenant.
create function dak_outgoing() returns text
  language sql stable security definer set search_path = public
  as $$ select outgoing from operations $$;
