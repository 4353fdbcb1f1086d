-- When somebody last listened: only for such organizations events are put into the feed.
alter table event_feed_head add column wanted_at timestamptz;
