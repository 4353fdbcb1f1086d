-- A policy that calls a function reads its setting again for every row, which was 40 % of what a list costs. In a
-- subquery it is read once for a statement. Who sees which row stays as it was.
alter policy tenant on conversation using (organization_id = (select dak_tenant()));
alter policy worker on conversation using ((select dak_is_worker()));
alter policy tenant on conversation_tally using (organization_id = (select dak_tenant()));
alter policy worker on conversation_tally using ((select dak_is_worker()));
alter policy tenant on mailbox using (organization_id = (select dak_tenant()));
alter policy worker on mailbox using ((select dak_is_worker()));
alter policy tenant on mailbox_user using (organization_id = (select dak_tenant()));
alter policy tenant on mailbox_department using (organization_id = (select dak_tenant()));
