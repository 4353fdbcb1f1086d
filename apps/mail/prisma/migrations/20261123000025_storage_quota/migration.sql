-- Bytes of mail that the organization may keep; null = as many as there is room for. What it keeps is the
-- sum of its conversation_tally, which a look-up of a recipient reads across tenants.
alter table organization add column storage_bytes bigint;
create policy worker on conversation_tally for select using (dak_is_worker());
