-- As search_messages, for a caller that decides which words the index is asked for: those that are rare.
-- `whole` is tested on what they find, by the function behind @@, because an operator would be taken into
-- the index again; null = `indexed` says it all. More than `most` are not read, whichever they are.
create function find_messages(indexed tsquery, whole tsquery, most integer)
  returns table (id uuid, conversation_id uuid, sort_at timestamptz)
  language sql stable security definer rows 1000 set search_path = public set work_mem = '32MB'
  as $$
    select m.id, m.conversation_id, m.sort_at
      from message m
     where m.organization_id is not distinct from dak_tenant()
       and m.search @@ (quote_literal('@' || dak_tenant()::text)::tsquery && indexed)
       and (whole is null or ts_match_vq(m.search, whole))
     limit most
  $$;
