-- W3C trace context of what put the row into the queue; null = nobody traced it.
alter table inbound_spool add column traceparent text;
alter table submission add column traceparent text;
