-- Clients have turns within an organization, and flows within their client, so that a client that sends under
-- many names has one turn like all others. Keys of both, because row-level security keeps the comparison of
-- texts away from an index. A process of the former version writes no keys, and claims without an index, which
-- the few rows of the spool allow.
alter table inbound_spool
  add column client_key uuid not null default '00000000-0000-0000-0000-000000000000',
  add column flow_key   uuid not null default '00000000-0000-0000-0000-000000000000';
update inbound_spool set client_key = md5(split_part(flow, '|', 1))::uuid, flow_key = md5(flow)::uuid;
create index inbound_spool_turns
    on inbound_spool (priority, organization_id, client_key, flow_key, next_attempt_at);
drop index inbound_spool_flows;
