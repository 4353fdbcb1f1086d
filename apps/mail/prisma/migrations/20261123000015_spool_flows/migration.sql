-- Mail is claimed in turns: organization by organization, and within one flow by flow (a client, a
-- sender and a mailbox), so that what one sender has piled up does not stand before everybody else's.
-- A process of the former version writes no flow and claims by time, which this index does not serve
-- but the few rows of the spool allow.
alter table inbound_spool add column flow text not null default '';
create index inbound_spool_flows on inbound_spool (priority, organization_id, flow, next_attempt_at);
drop index inbound_spool_due;
