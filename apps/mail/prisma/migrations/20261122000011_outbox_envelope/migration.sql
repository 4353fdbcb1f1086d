-- The envelope in payload names id, key and headers. Only processes of a former version still write them;
-- once none runs any more, the columns go.
alter table outbox
  alter column id drop not null,
  alter column key drop not null,
  alter column headers drop not null;
