-- The person who made a template, also with an API key; null = made before, then the author of the first version.
alter table template add column creator_id uuid;
