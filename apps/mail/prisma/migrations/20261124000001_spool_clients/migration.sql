-- Clients have turns within an organization, and flows within their client, so that a client that sends under
-- many names has one turn like all others. A process of the former version writes no client, and claims
-- without an index, which the few rows of the spool allow.
alter table inbound_spool add column client text not null default '';
update inbound_spool set client = split_part(flow, '|', 1) where flow <> '';
create index inbound_spool_turns on inbound_spool (priority, organization_id, client, flow, next_attempt_at);
drop index inbound_spool_flows;
