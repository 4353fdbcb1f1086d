-- Services are told about people as about organizations: role, activity and departments of each, under a
-- version that grows with every change of these and is not the one of the user's record.
alter table user_account
  add column standing_version  integer not null default 1,
  -- The one that the services were last told; behind it = to be told again.
  add column announced_version integer not null default 0;
create index user_to_announce on user_account (organization_id, id) where announced_version <> standing_version;

-- Triggers, because departments also end for people who are not mentioned: when a department is deleted.
create function note_standing() returns trigger language plpgsql as $$
begin
  new.standing_version := old.standing_version + 1;
  return new;
end
$$;
create trigger user_account_standing before update of role, active on user_account
  for each row when (old.role is distinct from new.role or old.active is distinct from new.active)
  execute function note_standing();

create function note_membership() returns trigger language plpgsql as $$
begin
  update user_account u
     set standing_version = u.standing_version + 1
    from (select distinct organization_id, user_id from changed) c
   where u.organization_id = c.organization_id
     and u.id = c.user_id;
  return null;
end
$$;
create trigger department_member_added after insert on department_member
  referencing new table as changed for each statement execute function note_membership();
create trigger department_member_removed after delete on department_member
  referencing old table as changed for each statement execute function note_membership();

-- There is a service now that has not heard of the organizations yet.
update organization set announced_version = 0;
