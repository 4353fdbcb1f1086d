-- Answers to requests with an Idempotency-Key, for a day.
create table idempotency_record (
  organization_id  uuid not null,
  principal_id     uuid not null,        -- the credential
  route            text not null,
  key              text not null,
  request_hash     text not null,
  response_id      text not null,        -- empty where the answer is no record
  response_version bigint not null,
  response_json    text not null,
  created_at       timestamptz not null,
  primary key (organization_id, principal_id, route, key)
);
create index idempotency_record_age on idempotency_record (created_at);
alter table idempotency_record enable row level security;
create policy tenant on idempotency_record using (organization_id = dak_tenant());
create policy worker on idempotency_record using (dak_is_worker());
