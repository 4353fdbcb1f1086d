-- The API keys that made or changed a rule: when one of them ends, the rule stops. Both are null in rows of
-- the former version.
alter table rule
  add column key_ids         uuid[],
  add column disabled_reason text;        -- key_revoked; null = none
