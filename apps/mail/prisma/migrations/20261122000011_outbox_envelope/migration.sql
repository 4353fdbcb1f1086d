-- The envelope in payload names id, key and headers already.
alter table outbox drop column id, drop column key, drop column headers;
