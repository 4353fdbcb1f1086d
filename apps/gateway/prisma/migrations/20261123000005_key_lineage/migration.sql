-- The key with which a key was made: the one ends with the other.
alter table api_key add column parent_id uuid;
alter table api_key
  add constraint api_key_parent_fkey
  foreign key (organization_id, parent_id) references api_key (organization_id, id);
create index api_key_parent_idx on api_key (organization_id, parent_id);
