-- The API keys that made or changed an endpoint: when one of them ends, the endpoint is disabled. The scopes
-- are those that all of them have; null = a person's session made it, with all of its person's scopes.
alter table endpoint
  add column key_ids      uuid[],
  add column maker_scopes text[];

-- Whether only those may have the event who may send in its conversation; null = no.
alter table message add column needs_send boolean;
