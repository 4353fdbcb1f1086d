-- Makes the index by which events are found when they are forgotten, on days that are over: nothing is added to
-- those any more, so publishing never pays for it. Runs with the owner's rights, because the runtime role owns nothing.
create function index_event_log() returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  today date := (now() at time zone 'UTC')::date;
  day   text;
begin
  perform pg_advisory_xact_lock(hashtext('dak:event-log'));
  for day in
    select child.relname
      from pg_inherits
      join pg_class child on child.oid = pg_inherits.inhrelid
     where pg_inherits.inhparent = 'public.event_log'::regclass
       and child.relname ~ '^event_log_[0-9]{8}$'
       and to_date(right(child.relname, 8), 'YYYYMMDD') < today
       and to_regclass('public.' || child.relname || '_key') is null
  loop
    execute format('create index %I on public.%I (key collate "C")', day || '_key', day);
  end loop;
end $$;

revoke all on function index_event_log() from public;
