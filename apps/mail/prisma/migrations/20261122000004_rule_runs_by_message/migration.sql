-- Runs are looked up by where their message is now, which merging and splitting change.
create index rule_run_by_message on rule_run (organization_id, message_id, id desc);
drop index rule_run_by_conversation;
