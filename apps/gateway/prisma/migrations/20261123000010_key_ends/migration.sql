-- How often the services have been told that the key has ended: at once, and again when no request that it
-- began can be under way any more.
alter table api_key add column end_told integer not null default 0;
