-- Bytes of mail that the organization may keep; null = as many as there is room for.
alter table organization add column storage_bytes bigint
  constraint organization_storage_not_negative check (storage_bytes >= 0);
