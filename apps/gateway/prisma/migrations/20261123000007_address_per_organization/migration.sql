-- An address may have a user in several organizations, so that nobody finds out elsewhere whether it has one. Login looks
-- addresses up across tenants: the address comes first.
create unique index user_account_address_key on user_account (email, organization_id);
drop index user_account_email_key;
