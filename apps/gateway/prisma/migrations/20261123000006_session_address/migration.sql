-- Where a session began, for the person who looks through their own.
alter table session add column address text;
