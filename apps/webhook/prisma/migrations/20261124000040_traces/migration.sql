-- W3C trace context of the event; null = nobody traced it.
alter table message add column traceparent text;
