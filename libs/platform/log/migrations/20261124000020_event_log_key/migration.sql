-- What an organization's events are found by when they are forgotten: keys begin with it. Only the partitions of
-- the coming days get the index, so that nobody waits while it is built; the others are dropped within two weeks.
create index event_log_key on only event_log (key collate "C");
