import { seesWholeOrganization, type Principal } from '@dak/kernel';
import type { SqlParameters } from '../db/sql-parameters';
import { mailboxIsOpen } from '../mailboxes/visibility-store';
import type { AnalyticsQuery } from './analytics-query';

/** Fragments of a statement over the model that holds the CTE `model (generation, as_of)`. */
export interface ReadingScope {
  /** Placeholder of the organization. */
  readonly organization: string;
  /** Common table expressions, each followed by a comma. */
  readonly tables: string;
  /** Condition on a row of `analytics_fact` or `analytics_conversation` under this alias. */
  condition(alias: string): string;
}

/**
 * Which rows the caller's numbers are of: conversations that the caller could read now, cut down by the
 * filters. A merged conversation is read where it went.
 */
export function readingScope(
  principal: Principal,
  query: Pick<AnalyticsQuery, 'mailboxId' | 'departmentId' | 'assignee'>,
  parameters: SqlParameters,
): ReadingScope {
  const organization = parameters.add(principal.organizationId);
  const filters: ((alias: string) => string)[] = [];
  if (query.mailboxId !== null) {
    const mailbox = parameters.add(query.mailboxId);
    filters.push((alias) => `${alias}.mailbox_id = ${mailbox}`);
  }
  if (query.departmentId !== null) {
    const department = parameters.add(query.departmentId);
    filters.push((alias) => `${alias}.department_id = ${department}`);
  }
  if (query.assignee === 'none') filters.push((alias) => `${alias}.assignee_id is null`);
  else if (query.assignee !== null) {
    const assignee = parameters.add(query.assignee);
    filters.push((alias) => `${alias}.assignee_id = ${assignee}`);
  }
  let tables = '';
  if (!seesWholeOrganization(principal)) {
    tables = openTables(principal, organization, parameters);
    filters.push(
      (alias) => `(${alias}.mailbox_id in (select id from open_mailbox)
              or ${alias}.conversation_id in (select id from open_conversation))`,
    );
  }
  return {
    organization,
    tables,
    condition: (alias) => filters.map((filter) => filter(alias)).join(' and ') || 'true',
  };
}

function openTables(principal: Principal, organization: string, parameters: SqlParameters): string {
  const departments = parameters.add(principal.departmentIds);
  return `
  open_mailbox as materialized (
    select m.id
      from mailbox m
     where m.organization_id = ${organization} and m.deleted_at is null
       and ${mailboxIsOpen(principal, 'read', 'm.id', parameters)}),
  open_conversation (id) as (
    select c.conversation_id
      from analytics_conversation c
      join mailbox m on m.organization_id = c.organization_id and m.id = c.mailbox_id and m.deleted_at is null
     where c.organization_id = ${organization} and c.generation = (select generation from model)
       and c.department_id = any(${departments}::uuid[]) and c.merged_into_id is null
     union
    select s.conversation_id
      from open_conversation o
      join analytics_conversation s on s.organization_id = ${organization}
                                   and s.generation = (select generation from model)
                                   and s.merged_into_id = o.id),`;
}
