-- What the gateway announces may come late: an older version changes nothing. 0 = told without one.
alter table organization add column version bigint not null default 0;
