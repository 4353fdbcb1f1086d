-- Domains that an organization is to own from its beginning: told to the mail service with its first announcement.
alter table organization add column first_domains text[] not null default '{}';
