-- Whether only those are shown the event who may send in its conversation; null = no.
alter table event_feed add column needs_send boolean;
