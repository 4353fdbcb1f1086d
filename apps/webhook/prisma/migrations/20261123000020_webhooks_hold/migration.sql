-- Webhooks can be held, of the whole deployment. released_at is when the latest hold ended.
create table operations (
  id          boolean     primary key default true check (id),
  webhooks    text        not null default 'run',
  version     bigint      not null default 0,
  released_at timestamptz,
  updated_at  timestamptz not null default now()
);
alter table operations enable row level security;
create policy worker on operations using (dak_is_worker());
insert into operations default values;

create function note_release() returns trigger language plpgsql as $$
begin
  new.released_at := now();
  return new;
end
$$;
create trigger operations_release before update on operations
  for each row when (old.webhooks = 'hold' and new.webhooks <> 'hold')
  execute function note_release();
