-- Which process carries out a replay: after its end another may begin at once.
alter table parked_key add column replay_owner text;
